"""What happens in a worker's main process, beside Celery: request.py, prefork.py."""
