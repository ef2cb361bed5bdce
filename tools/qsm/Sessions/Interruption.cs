using System.Runtime.InteropServices;

namespace QuickSilver.Tool.Sessions;

// SIGINT and SIGTERM ask a command to end in order; a second one ends it at once.
internal sealed partial class Interruption : IDisposable
{
    private const int SigInt = 2;

    private readonly CancellationTokenSource _source = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;

    public Interruption()
    {
        // A shell without job control starts background commands with SIGINT ignored, and the runtime would leave it so;
        // but "qsm sub … &" in a script has to end in order when the script sends it one.
        if (!OperatingSystem.IsWindows())
        {
            SetSignal(SigInt, 0);
        }

        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
    }

    public CancellationToken Token => _source.Token;

    /// <summary>Gets the signals instead, however many come; null: they end the command.</summary>
    public Action<PosixSignal>? Receiver { get; set; }

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
        _source.Dispose();
    }

    // Handler 0 is the system's default.
    [LibraryImport("libc", EntryPoint = "signal")]
    private static partial nint SetSignal(int signal, nint handler);

    private void OnSignal(PosixSignalContext context)
    {
        context.Cancel = true;
        if (Receiver is { } receiver)
        {
            receiver(context.Signal);
            return;
        }

        if (_source.IsCancellationRequested)
        {
            System.Environment.Exit(ExitCode.Interrupted);
        }

        _source.Cancel();
    }
}
