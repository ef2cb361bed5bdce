using System.Net.Sockets;

namespace QuickSilver.Core.Transport;

// What a poller reports for a socket; it knows nothing else of it.
internal interface IReadySource;

// Waits for sockets to become readable, or for a wake. Level-triggered: a socket that still holds something is reported
// again by the next Wait. All calls but Wake are the core thread's.
internal interface IPoller : IDisposable
{
    string Name { get; }

    void Register(Socket socket, IReadySource source);

    /// <summary>Forgets a socket, which must still be open.</summary>
    void Unregister(Socket socket);

    /// <summary>Waits until a socket is readable, a wake comes or the time is over; how many of <paramref name="ready"/>
    /// were filled. Timeout.InfiniteTimeSpan waits without end, zero only looks. It may return early with nothing.</summary>
    int Wait(TimeSpan timeout, IReadySource[] ready);

    /// <summary>Waits for a wake or the time only, and lets datagrams gather meanwhile.</summary>
    void WaitForWake(TimeSpan timeout);

    /// <summary>Ends the present wait, or else the next one at once. From any thread; harmless after Dispose.</summary>
    void Wake();
}

internal enum PollerKind
{
    /// <summary>The best that has been run on this system: epoll on Linux, select elsewhere.</summary>
    Default = 0,
    Epoll,
    Select,
    CompletionPort,
}

internal static class Poller
{
    public static IPoller Create(PollerKind kind) => kind switch
    {
        PollerKind.Default when OperatingSystem.IsLinux() => new EpollPoller(),
        PollerKind.Default or PollerKind.Select => new SelectPoller(),
        PollerKind.Epoll when OperatingSystem.IsLinux() => new EpollPoller(),
        PollerKind.CompletionPort when OperatingSystem.IsWindows() => new CompletionPortPoller(),
        _ => throw new PlatformNotSupportedException($"The poller {kind} is not supported on this operating system."),
    };
}
