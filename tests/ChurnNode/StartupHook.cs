using System.Runtime.InteropServices;
using ChurnNode;

// Lets another program of .NET, such as `qsm gms`, say what it holds: the runtime calls this before its Main if DOTNET_STARTUP_HOOKS names
// this assembly. On signal USR1 the footprint of the process is written to the file of QS_FOOTPRINT.
internal static class StartupHook
{
    private const int Usr1 = 10;
    private static PosixSignalRegistration? _registration;

    public static void Initialize()
    {
        if (Environment.GetEnvironmentVariable("QS_FOOTPRINT") is { Length: > 0 } path)
        {
            _registration = PosixSignalRegistration.Create((PosixSignal)Usr1, signal =>
            {
                signal.Cancel = true;
                // Seen as a whole or not at all.
                File.WriteAllText(path + ".new", Footprint.Measure().ToString());
                File.Move(path + ".new", path, overwrite: true);
            });
        }
    }
}
