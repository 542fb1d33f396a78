"""Takes orders and cancels them, tells the other apps by events, and keeps the daily sales figures."""
