namespace QuickSilver.Multicast.Tests.Schemes;

public sealed class GroupMulticastTests : SchemeContract
{
    internal override MulticastOptions Options => new() { ClusterId = 7 };
}

public sealed class UnicastFanOutTests : SchemeContract
{
    internal override MulticastOptions Options => new() { ClusterId = 7, Unicast = true };
}
