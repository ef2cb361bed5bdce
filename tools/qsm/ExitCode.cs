namespace QuickSilver.Tool;

// The exit codes for the shell. Scripts depend on these numbers: none is ever given another meaning. The page docs/qsm.md lists them.
internal static class ExitCode
{
    // Also when the reader of the output closes it.
    public const int Ok = 0;
    public const int Failed = 1;
    public const int Usage = 2;
    public const int Unreachable = 3;

    // Of commands that run another one, whose own code they give otherwise: as timeout(1), env(1) and shells do.
    public const int NotInTime = 124;
    public const int Lost = 125;
    public const int NotExecutable = 126;
    public const int NotFound = 127;

    public const int Interrupted = 130;
}
