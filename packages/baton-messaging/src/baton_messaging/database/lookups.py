"""The lookup ``any_of`` takes thousands of keys: ``key__any_of=keys`` finds the rows that ``key__in=keys`` finds.

``in`` makes a parameter of each value, which Django and psycopg prepare one by one. ``any_of`` makes one array of all.
PostgreSQL plans both alike.
"""

from typing import TYPE_CHECKING, Any

from django.db.models import Field, Lookup

if TYPE_CHECKING:
    _Lookup = Lookup[Any]
else:  # generic only in the stubs
    _Lookup = Lookup


@Field.register_lookup
class AnyOf(_Lookup):
    """``column = ANY (array)``."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """Return the condition, and its one parameter."""
        field = self.lhs.output_field
        column, parameters = self.process_lhs(compiler, connection)
        values = [field.get_db_prep_value(value, connection) for value in self.rhs]
        return f"{column} = ANY (%s::{field.cast_db_type(connection)}[])", (*parameters, values)
