"""Exports: orders as a CSV or Excel file, built in the background while a person goes on working.

The row of an export is its state machine (``models``); the file is built by ``building`` from one snapshot of the
database and put in place only when it is whole (``files``).
"""
