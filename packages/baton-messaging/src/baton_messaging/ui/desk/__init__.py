"""The desk: where a person looks at dead letters and decides what becomes of them. Pages of the admin, thin views.

Every operation is a function of dead_letters/; the command and the API call the same ones. Keeps promise 5: what died
is on one list, with cause, owner and error.
"""
