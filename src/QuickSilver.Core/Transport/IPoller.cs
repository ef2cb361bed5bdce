using System.Net.Sockets;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Overlapped;
using QuickSilver.Core.Transport.Readiness;

namespace QuickSilver.Core.Transport;

// Where the operations of a node's sockets complete, and those of others that are posted here. It waits until there are completions, or for
// a wake; the core thread then takes them from their sources.
//
// Two ways lie beneath. Epoll and select report which sockets are ready, and taking a completion makes the call, which returns at once. At
// a completion port, operations are under way at all times, and taking a completion yields one that has ended.
//
// Level-triggered: a source from which not all was taken is named again by the next Wait. All calls but Post and Wake are the core
// thread's.
internal interface IPoller : IDisposable
{
    string Name { get; }

    /// <summary>Receives from a port until it closes.</summary>
    PortSource Open(DatagramSocket port, IDatagramReceiver receiver);

    /// <summary>Names this source when something completes at its stream, which is connected, or about to.</summary>
    IStreamSocket OpenStream(Socket socket, CompletionSource source);

    /// <summary>Names this source when a peer connects.</summary>
    IAcceptSocket OpenListener(Socket socket, CompletionSource source);

    /// <summary>
    /// Waits until something has completed, a wake comes or the time is over; how many of <paramref name="completed"/> were filled, each a
    /// source that has completions. Timeout.InfiniteTimeSpan waits without end, zero only looks. It may return early with nothing.
    /// </summary>
    int Wait(TimeSpan timeout, CompletionSource[] completed);

    /// <summary>Waits for a wake or the time only, and lets datagrams gather meanwhile.</summary>
    void WaitForWake(TimeSpan timeout);

    /// <summary>Has the source named by a Wait: the present one, or else the next. From any thread; harmless after Dispose.</summary>
    void Post(CompletionSource source);

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
        PollerKind.CompletionPort when OperatingSystem.IsWindows() => new CompletionPortPoller(new WindowsCalls()),
        _ => throw new PlatformNotSupportedException($"The poller {kind} is not supported on this operating system."),
    };
}
