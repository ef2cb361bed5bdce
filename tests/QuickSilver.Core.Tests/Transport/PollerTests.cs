using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Overlapped;

namespace QuickSilver.Core.Tests.Transport;

public sealed class SelectPollerTests() : PollerContract(Poller.Create(PollerKind.Select));

// The part of the completion port that is not Windows.
public sealed class CompletionPortPollerTests() : PollerContract(new CompletionPortPoller(new EmulatedPort()));

// The default: epoll on Linux.
public sealed class DefaultPollerTests() : PollerContract(Poller.Create(PollerKind.Default))
{
    [Fact]
    public void Is_epoll_on_Linux()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "epoll is Linux's.");
        using var poller = Poller.Create(PollerKind.Default);
        Assert.Equal("epoll", poller.Name);
    }

    [Fact]
    public void The_completion_port_is_refused_by_name_where_it_cannot_be()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows has it.");
        var refusal = Assert.Throws<PlatformNotSupportedException>(() => Poller.Create(PollerKind.CompletionPort));
        Assert.Contains("CompletionPort", refusal.Message);
    }
}
