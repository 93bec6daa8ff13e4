"""How often the screen is drawn, and how long it may judge messages in between.

Usually it is drawn 20 times a second. In a flood new rows cannot be read, so while no key is pressed it is drawn five
times a second; the first key brings the usual pace back at once. The log, which costs most, stays at five while the
keys go elsewhere: a letter in a form then waits for no rows that cannot be read.

On a machine that is busy with other programs a drawing takes several times as long, and in a flood keys would wait for
one drawing after the other. A drawing that comes late makes the next pauses of the flood longer, so that most of the
time is left for keys.
"""

from __future__ import annotations

TICK = 1 / 20
"""Seconds between two drawings."""
CALM_TICK = 1 / 5
"""Seconds between two drawings in a flood, while no key is pressed."""
FLOOD = 500
"""Events a second from which it is a flood."""
MAX_LONGER = 0.3
"""Seconds by which a pause becomes longer at most, because drawings come late."""
KEYS_REST = 2.0
"""Seconds after a key in which the pace is the usual one: the effects of the key may take as long."""
JUDGED_SHARE = 0.08
"""The share of the time that the judge may use."""


class DrawingPace:
    """Decides on the next drawing. Times are seconds on one clock."""

    def __init__(self) -> None:
        self._drawn = (0.0, 0)
        """When the latest drawing was, and how many events there were."""
        self._flooded = False
        self._due = 0.0
        """When the drawing after the current pause should be; 0 before the first."""
        self._longer = 0.0
        """Seconds by which the pauses of a flood are longer now."""
        self._log_drawn = 0.0
        """When the latest drawing of the log was."""
        self._calm_since = 0.0
        """When a calm pause began; 0 if the current pause is the usual one."""

    def drawn(self, now: float, events: int, *, live: bool) -> float:
        """Take note of a drawing with so many events. Return the seconds that the judge may use for it.

        Events that are read from a file (not `live`) make no flood: they come as fast as they are read.
        """
        if self._due:
            # Half of the former value remains: one drawing that comes in time does not yet mean that there is time.
            late = max(now - self._due, 0.0)
            self._longer = min(max(2 * late, self._longer / 2), MAX_LONGER)
        (then, before), self._drawn = self._drawn, (now, events)
        self._flooded = live and events - before > FLOOD * (now - then)
        return JUDGED_SHARE * min(max(now - then, TICK), CALM_TICK)

    def draws_log(self, now: float, *, focused: bool) -> bool:
        """Whether a drawing includes the log and the event below it. `focused`: the keys go there."""
        if self._flooded and not focused and now - self._log_drawn < CALM_TICK:
            return False
        self._log_drawn = now
        return True

    def pause(self, now: float, key_came: float) -> float:
        """Begin the pause before the next drawing; return its seconds. `key_came` is the time of the latest key."""
        calm = self._flooded and now - key_came > KEYS_REST
        self._calm_since = now if calm else 0.0
        pause = CALM_TICK if calm else TICK
        if self._flooded:
            pause += self._longer
        self._due = now + pause
        return pause

    def hurries(self, key_came: float) -> bool:
        """Whether a key came in a calm pause, so that the usual pause must begin now."""
        return 0 < self._calm_since < key_came
