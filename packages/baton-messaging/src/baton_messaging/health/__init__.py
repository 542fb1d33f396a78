"""What is well and what is not: health checks that do what the work does, and diagnoses with an owner and a step.

The room is the platform's, and keeps promise 7: one type says what is wrong, whose it is and what mends it, wherever
that is shown. A check asks a server for what messages need of it (a committed row, a confirmed message), and quotes the
server's own words.
"""
