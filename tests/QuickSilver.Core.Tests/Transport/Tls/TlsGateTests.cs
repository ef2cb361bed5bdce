using System.Net;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

public sealed class TlsGateTests
{
    private static readonly IPAddress One = IPAddress.Parse("10.0.0.1");
    private static readonly IPAddress Other = IPAddress.Parse("10.0.0.2");
    private static readonly IPAddress Newcomer = IPAddress.Parse("10.0.1.0");

    private readonly Clock _time = new();
    private readonly TlsGate<Handshake> _gate;
    private readonly List<Handshake> _underWay = [];

    public TlsGateTests()
    {
        _gate = new TlsGate<Handshake>(_time);
    }

    [Fact]
    public void One_address_has_its_share_and_leaves_the_others_theirs()
    {
        Enter(One, TlsGate<Handshake>.MostOfAddress);

        Assert.NotNull(_gate.Refuse(One, out _));
        Assert.Null(_gate.Refuse(Other, out _));
        _gate.Leave(_underWay[0], hasFailed: false);
        Assert.Null(_gate.Refuse(One, out _));
    }

    [Fact]
    public void All_together_have_a_limit_at_which_the_oldest_of_the_address_that_has_the_most_gives_way()
    {
        Enter(Other, 10);
        // Three of 64, and one of 60 with the oldest of all.
        for (int i = 0; i < 3; i++)
        {
            Enter(Numbered(i), TlsGate<Handshake>.MostOfAddress);
        }

        Enter(Other, 50);
        Enter(One, TlsGate<Handshake>.MostUnderWay - _underWay.Count);
        Assert.Same(_underWay[10], Displaced(Newcomer));
        Assert.Equal(Numbered(0), _underWay[10].Address);

        // It comes in, and the next of its address too.
        Swap(Newcomer);
        Assert.Same(_underWay.First(one => one.Address.Equals(Numbered(1))), Displaced(Newcomer));
    }

    [Fact]
    public void An_address_of_its_own_comes_in_although_four_hold_all_places_again_and_again()
    {
        for (int i = 0; i < 4; i++)
        {
            Enter(Numbered(i), TlsGate<Handshake>.MostOfAddress);
        }

        Swap(Newcomer);
        var honest = _underWay[^1];
        for (int i = 0; i < 1_000; i++)
        {
            var address = Numbered(i % 4);
            if (_gate.Refuse(address, out var displaced) is null)
            {
                Assert.NotSame(honest, displaced);
                Leave(displaced!);
                Enter(address, 1);
            }
        }

        Assert.Contains(honest, _underWay);
        Assert.Equal(TlsGate<Handshake>.MostUnderWay, _underWay.Count);
    }

    [Fact]
    public void Of_addresses_with_one_handshake_each_the_oldest_gives_way_to_a_new_address_alone()
    {
        for (int i = 0; i < TlsGate<Handshake>.MostUnderWay; i++)
        {
            Enter(Numbered(i), 1);
        }

        Assert.Same(_underWay[0], Displaced(Newcomer));
        Assert.NotNull(_gate.Refuse(Numbered(1), out var displaced));
        Assert.Null(displaced);
    }

    [Fact]
    public void Two_addresses_that_have_nearly_the_same_do_not_take_places_from_each_other()
    {
        for (int i = 0; i < 5; i++)
        {
            Enter(Numbered(i), 51);
        }

        Enter(Numbered(0), 1);
        Assert.NotNull(_gate.Refuse(Numbered(1), out _));
    }

    [Fact]
    public void An_address_that_fails_repeatedly_is_admitted_slowly_and_no_other_gives_way_to_it()
    {
        Fail(One);
        Assert.NotNull(_gate.Refuse(One, out _));
        Assert.Null(_gate.Refuse(Other, out _));
        _time.Now += TimeSpan.FromSeconds(1);
        Assert.Null(_gate.Refuse(One, out _));

        for (int i = 0; i < TlsGate<Handshake>.MostUnderWay; i++)
        {
            Enter(Numbered(i), 1);
        }

        _time.Now += TimeSpan.FromMinutes(1);
        Fail(Numbered(0));
        Leave(_underWay[0]);
        Enter(Newcomer, 1);
        Assert.NotNull(_gate.Refuse(Numbered(0), out var displaced));
        Assert.Null(displaced);
    }

    [Fact]
    public void Where_there_is_no_place_but_those_taken_the_oldest_of_the_address_with_the_most_gives_way_to_a_newcomer()
    {
        Enter(Other, 2);
        Enter(One, 20);
        Assert.Same(_underWay[2], _gate.FindOldest(Newcomer));
    }

    [Fact]
    public void Where_there_is_no_place_but_those_taken_an_address_that_has_the_most_gives_up_its_own_oldest()
    {
        Enter(Other, 2);
        Enter(One, 20);
        Assert.Same(_underWay[2], _gate.FindOldest(One));
    }

    [Fact]
    public void Where_there_is_no_place_but_those_taken_and_none_is_none_gives_way()
    {
        Assert.Null(_gate.FindOldest(Newcomer));
    }

    [Fact]
    public void None_gives_way_to_an_address_that_fails_again_and_again()
    {
        Enter(Other, 2);
        Fail(One);
        Assert.Null(_gate.FindOldest(One));
    }

    private static IPAddress Numbered(int number) => new([10, 1, (byte)(number >> 8), (byte)number]);

    private void Enter(IPAddress address, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Assert.Null(_gate.Refuse(address, out var displaced));
            Assert.Null(displaced);
            Add(address);
        }
    }

    private void Add(IPAddress address)
    {
        var handshake = new Handshake(address);
        _underWay.Add(handshake);
        _gate.Enter(address, handshake);
    }

    private void Leave(Handshake handshake, bool hasFailed = false)
    {
        _gate.Leave(handshake, hasFailed);
        _underWay.Remove(handshake);
    }

    private void Fail(IPAddress address)
    {
        for (int i = 0; i < TlsGate<Handshake>.FailureBurst; i++)
        {
            Add(address);
            Leave(_underWay[^1], hasFailed: true);
        }
    }

    private Handshake? Displaced(IPAddress newcomer)
    {
        Assert.Null(_gate.Refuse(newcomer, out var displaced));
        return displaced;
    }

    private void Swap(IPAddress newcomer)
    {
        Leave(Displaced(newcomer)!);
        Add(newcomer);
    }

    private sealed class Handshake(IPAddress address)
    {
        public IPAddress Address { get; } = address;
    }

    private sealed class Clock : TimeProvider
    {
        public TimeSpan Now { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now.Ticks;
    }
}
