using System.Diagnostics;
using System.Runtime.InteropServices;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Groups;

/// <summary>How a program ended that ran while this node held something.</summary>
/// <param name="ExitCode">Its exit code; of one that a signal ended, 128 and the number of the signal.</param>
/// <param name="WasLost">Whether what was held had been lost before.</param>
/// <param name="WasSignalled">Whether this process got a signal meanwhile.</param>
internal readonly record struct GuardedEnd(int ExitCode, bool WasLost, bool WasSignalled);

// Runs a program while this node holds something. What signals this process gets, the program gets. If what is held is lost, the program is
// asked to end, and it is waited for: what it does until then, it does without the hold.
internal sealed partial class GuardedRun : IDisposable
{
    private const int SigInt = 2;
    private const int SigTerm = 15;

    private readonly Lock _lock = new();
    private readonly Session _session;
    // Signals that came before the program was started.
    private readonly List<int> _early = [];
    private Process? _process;
    private volatile bool _wasSignalled;

    private GuardedRun(Session session)
    {
        _session = session;
        session.SignalReceiver = OnSignal;
    }

    /// <param name="session">Of the command.</param>
    /// <param name="program">What runs.</param>
    /// <param name="variables">What its environment has besides.</param>
    /// <param name="what">What is held, for people.</param>
    /// <param name="lost">Cancelled when it is lost.</param>
    public static async Task<GuardedEnd> RunAsync(
        Session session, GuardedProgram program, (string Name, string Value)[] variables, string what, CancellationToken lost)
    {
        if (lost.IsCancellationRequested)
        {
            Terminal.Error($"{what} was lost before the command was started.");
            return new GuardedEnd(ExitCode.Lost, WasLost: true, WasSignalled: false);
        }

        using var run = new GuardedRun(session);
        // What came before ends the command.
        session.Interrupted.ThrowIfCancellationRequested();
        using var process = program.Start(variables);
        run.Begin(process);
        bool wasLost = false;
        using (lost.UnsafeRegister(_ =>
        {
            Volatile.Write(ref wasLost, true);
            Terminal.Error($"{what} is lost: others may have it now. The command is asked to end.");
            run.Signal(SigTerm);
        }, null))
        {
            await process.WaitForExitAsync(CancellationToken.None);
        }

        return new GuardedEnd(process.ExitCode, Volatile.Read(ref wasLost), run._wasSignalled);
    }

    public void Dispose() => _session.SignalReceiver = null;

    private void Begin(Process process)
    {
        lock (_lock)
        {
            _process = process;
            _early.ForEach(Signal);
        }
    }

    private void OnSignal(PosixSignal signal)
    {
        _wasSignalled = true;
        // An interrupt from the keyboard goes to all processes of the foreground, the program among them.
        if (signal == PosixSignal.SIGTERM || !IsInForeground())
        {
            Signal(signal == PosixSignal.SIGTERM ? SigTerm : SigInt);
        }
    }

    private void Signal(int signal)
    {
        lock (_lock)
        {
            if (_process is null)
            {
                _early.Add(signal);
                return;
            }

            try
            {
                if (_process.HasExited)
                {
                    return;
                }

                if (OperatingSystem.IsWindows())
                {
                    // There is no way to ask.
                    _process.Kill();
                    return;
                }

                _ = Kill(_process.Id, signal);
            }
            catch (InvalidOperationException)
            {
                // It has ended meanwhile.
            }
        }
    }

    // On Windows, the keyboard reaches all processes of a console.
    private static bool IsInForeground()
    {
        if (OperatingSystem.IsWindows())
        {
            return true;
        }

        try
        {
            using var terminal = File.OpenHandle("/dev/tty");
            return ForegroundOf(terminal) == OwnGroup();
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // There is no terminal.
            return false;
        }
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Kill(int process, int signal);

    [LibraryImport("libc", EntryPoint = "tcgetpgrp")]
    private static partial int ForegroundOf(SafeHandle terminal);

    [LibraryImport("libc", EntryPoint = "getpgrp")]
    private static partial int OwnGroup();
}
