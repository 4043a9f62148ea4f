"""Hours of the week: what people rely on of them, through midnights and changes of clocks."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.clusters.safeguards.hours import WEEKDAYS, Hours, open_until

BERLIN = ZoneInfo("Europe/Berlin")
ALWAYS = frozenset(WEEKDAYS)


def hours(begins: str, ends: str, zone: ZoneInfo = BERLIN, *days: str, **limits: date) -> Hours:
    """``hours("22:00", "06:00")``: every day in Berlin."""
    return Hours(
        weekdays=frozenset(days) or ALWAYS,
        begins=time.fromisoformat(begins),
        ends=time.fromisoformat(ends),
        zone=zone,
        **limits,
    )


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    """A local time as people write it."""
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def is_open(found: Hours, moment: datetime, *, longer: bool = True) -> bool:
    """Whether the hours hold a moment."""
    return open_until(found, moment, when_clocks_change="longer" if longer else "shorter") is not None


@pytest.mark.parametrize(
    ("moment", "want"),
    [
        ("2026-01-05T08:59:59", False),
        ("2026-01-05T09:00:00", True),
        ("2026-01-05T16:59:59", True),
        ("2026-01-05T17:00:00", False),
        ("2026-01-06T12:00:00", False),
    ],
)
def test_they_hold_from_the_beginning_up_to_the_end(moment: str, want: bool) -> None:
    """The first second belongs to them, the last does not; other days do not."""
    assert is_open(hours("09:00", "17:00", BERLIN, "mon"), at(moment)) is want


@pytest.mark.parametrize(
    ("moment", "want"),
    [
        ("2026-01-09T21:59:00", False),
        ("2026-01-09T22:00:00", True),
        ("2026-01-10T05:59:00", True),
        ("2026-01-10T06:00:00", False),
        ("2026-01-10T23:00:00", False),
    ],
)
def test_over_midnight_they_belong_to_the_day_on_which_they_begin(moment: str, want: bool) -> None:
    """Friday night ends on Saturday morning, and there is no Saturday night."""
    assert is_open(hours("22:00", "06:00", BERLIN, "fri"), at(moment)) is want


def test_an_equal_beginning_and_end_are_a_whole_day() -> None:
    """From midnight to midnight is the day itself."""
    sunday = hours("00:00", "00:00", BERLIN, "sun")
    assert [is_open(sunday, at(f"2026-01-{day:02}T12:00:00")) for day in (10, 11, 12)] == [False, True, False]


def test_dates_limit_the_days_on_which_they_begin() -> None:
    """The last night of a freeze still ends in the morning after its last day."""
    freeze = hours("22:00", "06:00", first_day=date(2026, 12, 24), last_day=date(2026, 12, 31))
    told = ["2026-12-23T23:00:00", "2026-12-24T23:00:00", "2027-01-01T05:00:00", "2027-01-01T23:00:00"]
    assert [is_open(freeze, at(moment)) for moment in told] == [False, True, True, False]


def test_the_end_is_told_in_utc() -> None:
    """So that a page can write it in the reader's zone."""
    assert open_until(hours("22:00", "06:00"), at("2026-01-05T23:00:00"), when_clocks_change="longer") == datetime(
        2026, 1, 6, 5, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("begins", "ends", "utc", "longer", "want"),
    [
        # On 25 October 2026 it is 02:00 to 03:00 twice in Berlin: 00:00 to 01:00 UTC, then 01:00 to 02:00.
        ("01:00", "02:30", "2026-10-25T01:15:00", True, True),
        ("01:00", "02:30", "2026-10-25T01:30:00", True, False),
        ("01:00", "02:30", "2026-10-25T01:15:00", False, False),
        ("02:30", "04:00", "2026-10-25T00:45:00", True, True),
        ("02:30", "04:00", "2026-10-25T00:45:00", False, False),
        # On 29 March 2026 it is never 02:30: 02:00 to 03:00 falls out at 01:00 UTC.
        ("02:30", "05:00", "2026-03-29T01:00:00", True, True),
        ("02:30", "05:00", "2026-03-29T01:15:00", False, False),
        ("02:30", "05:00", "2026-03-29T01:45:00", False, True),
    ],
)
def test_where_clocks_change_they_are_longer_or_shorter_as_asked_for(
    begins: str, ends: str, utc: str, longer: bool, want: bool
) -> None:
    """A time of day that comes twice or never is read so that in doubt nothing is evicted."""
    assert is_open(hours(begins, ends), datetime.fromisoformat(utc).replace(tzinfo=UTC), longer=longer) is want


TIMES = st.times().map(lambda found: found.replace(second=0, microsecond=0))
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
MOMENTS = st.integers(0, 3 * 365 * 24 * 60).map(lambda n: datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=n))


@given(st.frozensets(st.sampled_from(WEEKDAYS), min_size=1), TIMES, TIMES, ZONES.map(ZoneInfo), MOMENTS)
def test_by_the_clock_on_the_wall(
    days: frozenset[str], begins: time, ends: time, zone: ZoneInfo, moment: datetime
) -> None:
    """Whatever the wall says lies within is within the longer hours; the shorter ones hold nothing else."""
    found = Hours(weekdays=days, begins=begins, ends=ends, zone=zone)
    local = moment.astimezone(zone)
    now, today, before = local.time(), WEEKDAYS[local.weekday()], WEEKDAYS[local.weekday() - 1]
    if begins < ends:
        on_wall = today in days and begins <= now < ends
    else:
        on_wall = (today in days and now >= begins) or (before in days and now < ends)
    assert is_open(found, moment) or not on_wall
    assert on_wall or not is_open(found, moment, longer=False)


@given(TIMES, TIMES, ZONES.map(ZoneInfo), MOMENTS)
def test_they_last_until_they_say(begins: time, ends: time, zone: ZoneInfo, moment: datetime) -> None:
    """They are open up to the end that is told, a moment before it too."""
    found = Hours(weekdays=ALWAYS, begins=begins, ends=ends, zone=zone)
    until = open_until(found, moment, when_clocks_change="longer")
    if until is not None:
        assert moment < until
        assert is_open(found, until - timedelta(microseconds=1))
