"""Ports of this machine for who is to listen later."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

from machine.own_ports import free as free_port, free_row  # pylint: disable=wrong-import-position,unused-import
