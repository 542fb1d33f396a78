"""The API for scripts: dead letters, consumers and triage as JSON, for staff. Routers to add to a project's NinjaAPI.

The same functions, rights and audit as the desk and the command (promise 7).
"""
