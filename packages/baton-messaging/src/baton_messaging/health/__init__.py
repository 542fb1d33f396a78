"""Health checks do with a server what the work does; diagnoses say what is wrong, whose it is, and what mends it.

The room is the platform's, and keeps promise 7: one type says what is wrong, whose it is and what mends it, wherever
that is shown. A check asks a server for what messages need of it (a committed row, a confirmed message), and quotes the
server's own words.
"""
