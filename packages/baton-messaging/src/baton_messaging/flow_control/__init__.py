"""Flow control lets messages wait: pauses by people, and circuit breakers that failures open.

The room is a person's (pauses) and the app team's (its consumers' circuits). It keeps the promise that a failure never
touches its neighbours: what the outside world breaks must not fill the list of dead letters.

Whatever is held waits as a row of ``Attempt`` that is not sent yet, and costs no attempt: the relay does not claim it
(holds.py has the condition), a worker that meets it in the broker parks it there (parking.py). So it survives restarts,
an emptied broker and deploys, and leaves by the relay's ordinary door.

The price for a message that nothing holds: no statement. The relay's and the worker's own statements carry the
question along.
"""
