using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Environment;

internal sealed record MachineEnvironmentOptions
{
    public string Name { get; init; } = "QuickSilver";

    /// <summary>The address of the interface to use.</summary>
    public IPAddress LocalAddress { get; init; } = IPAddress.Loopback;

    /// <summary>Packet memory in all.</summary>
    public long BufferBytes { get; init; } = 256L << 20;

    public PollerKind Poller { get; init; } = PollerKind.Default;

    /// <summary>Makes the poller; null (default): one of the kind above.</summary>
    public Func<IPoller>? NewPoller { get; init; }

    public bool SegmentationOffload { get; init; } = true;

    /// <summary>How many routers what is sent to groups may pass, plus one: 0 to 255.</summary>
    public int MulticastTimeToLive { get; init; } = 1;

    /// <summary>Whether the core thread polls instead of sleeping.</summary>
    public bool Spin { get; init; }

    /// <summary>The longest rest taken under load to let datagrams gather, and so the delay it may add; zero: none.</summary>
    public TimeSpan LongestNap { get; init; } = TimeSpan.FromMicroseconds(200);

    /// <summary>Whether a thread pool that starts no work is noticed.</summary>
    public bool WatchesThreadPool { get; init; }

    /// <summary>What control streams show and trust. Null (default): they are TCP alone.</summary>
    public IStreamCredentials? Credentials { get; init; }

    /// <summary>How many descriptors the process may open; null: the system does not show it. Default: as this system shows.</summary>
    public DescriptorRoom? Descriptors { get; init; } = DescriptorRoom.OfThisProcess();

    /// <summary>
    /// Where this node's logs lie, and no other node's: the environment has it locked until its end. It is created if there is none. Null
    /// (default): the node can open no logs.
    /// </summary>
    public string? StorageDirectory { get; init; }
}
