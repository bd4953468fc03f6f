"""Ports of this machine for who is to listen later."""

from machine.own_ports import free as free_port, free_row  # pylint: disable=unused-import
