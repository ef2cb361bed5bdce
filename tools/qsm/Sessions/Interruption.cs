using System.Runtime.InteropServices;

namespace QuickSilver.Tool.Sessions;

// SIGINT and SIGTERM ask a command to end in order; a second one ends it at once.
internal sealed class Interruption : IDisposable
{
    private readonly CancellationTokenSource _source = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;

    public Interruption()
    {
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
    }

    public CancellationToken Token => _source.Token;

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
        _source.Dispose();
    }

    private void OnSignal(PosixSignalContext context)
    {
        context.Cancel = true;
        if (_source.IsCancellationRequested)
        {
            System.Environment.Exit(ExitCode.Interrupted);
        }

        _source.Cancel();
    }
}
