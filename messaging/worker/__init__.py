"""What happens in a worker's main process, beside Celery: see request.py."""
