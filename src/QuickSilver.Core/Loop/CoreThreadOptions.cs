using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

internal sealed record CoreThreadOptions
{
    public string Name { get; init; } = "QuickSilver";

    public Func<IPoller> NewPoller { get; init; } = static () => Poller.Create(PollerKind.Default);

    /// <summary>Never block. Each turn still asks the poller, by a call that lets the collector in.</summary>
    public bool Spin { get; init; }

    /// <summary>The longest rest that is taken under load to let datagrams gather; zero turns that off.</summary>
    public TimeSpan LongestNap { get; init; } = TimeSpan.FromMicroseconds(200);
}
