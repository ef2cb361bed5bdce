using QuickSilver.Publishing;

namespace QuickSilver.Tests.Infrastructure;

// A publisher without an endpoint.
internal sealed class StubOrigin : PublishOrigin
{
    public override bool StampsTime => false;

    /// <summary>What it has queued is to be dropped.</summary>
    public void End(Exception reason) => DropQueued(reason);
}
