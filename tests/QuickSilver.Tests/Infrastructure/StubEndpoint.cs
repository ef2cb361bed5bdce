using QuickSilver.Endpoints;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Tests.Infrastructure;

// An endpoint that publishes and does nothing else.
internal sealed class StubEndpoint() : TopicEndpoint("stub", TopicAccess.Publish)
{
    public override IDirectSink? Direct => null;

    /// <summary>What it has queued is to be dropped.</summary>
    public void End(Exception reason) => DropQueued(reason);

    public override void SetAlone(bool isAlone) => throw new NotSupportedException();

    public override bool CanAccept(int payloadBytes) => throw new NotSupportedException();

    public override void Accept(in DeliveredMessage message) => throw new NotSupportedException();

    public override void AcceptGap(in GapNotice gap) => throw new NotSupportedException();

    public override void OnFailed(Exception reason) => throw new NotSupportedException();

    public override Task<bool> DrainAsync(TimeSpan? timeout = null) => throw new NotSupportedException();

    public override Task<bool> DrainWithNodeAsync(TimeSpan within) => throw new NotSupportedException();

    public override void LeaveIntake() => throw new NotSupportedException();

    public override ValueTask DisposeAsync() => throw new NotSupportedException();
}
