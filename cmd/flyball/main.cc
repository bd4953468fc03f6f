// The program: hands the command line to the subcommand that its first word names.
#include "cmd/flyball/commands.h"

int main(int argc, char** argv) { return flyball::cmd::Main(argc, argv); }
