using System.Net;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

public sealed class TlsGateTests
{
    private static readonly IPAddress One = IPAddress.Parse("10.0.0.1");
    private static readonly IPAddress Other = IPAddress.Parse("10.0.0.2");

    private readonly Clock _time = new();
    private readonly TlsGate _gate;

    public TlsGateTests()
    {
        _gate = new TlsGate(_time);
    }

    [Fact]
    public void One_address_has_its_share_and_leaves_the_others_theirs()
    {
        for (int i = 0; i < TlsGate.MostOfAddress; i++)
        {
            Assert.Null(_gate.Refuse(One));
        }

        Assert.NotNull(_gate.Refuse(One));
        Assert.Null(_gate.Refuse(Other));
        _gate.Leave(One, hasFailed: false);
        Assert.Null(_gate.Refuse(One));
    }

    [Fact]
    public void All_together_have_a_limit()
    {
        for (int i = 0; i < TlsGate.MostUnderWay; i++)
        {
            Assert.Null(_gate.Refuse(new IPAddress(0x0a000000 + (i % 100))));
        }

        Assert.NotNull(_gate.Refuse(One));
    }

    [Fact]
    public void An_address_that_fails_again_and_again_is_let_in_slowly()
    {
        for (int i = 0; i < TlsGate.FailureBurst; i++)
        {
            Assert.Null(_gate.Refuse(One));
            _gate.Leave(One, hasFailed: true);
        }

        Assert.NotNull(_gate.Refuse(One));
        Assert.Null(_gate.Refuse(Other));
        _time.Now += TimeSpan.FromSeconds(1);
        Assert.Null(_gate.Refuse(One));
    }

    private sealed class Clock : TimeProvider
    {
        public TimeSpan Now { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now.Ticks;
    }
}
