using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Receiving.Windows;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class PacketWindowTests
{
    private const int MaxPackets = 1024;
    private const int PacketBytes = 100;

    private readonly SlabPool _pool = new(64L << 20);
    private readonly ReceiveMemory _memory;
    private readonly PacketWindow _window;
    private readonly Lease _block;

    public PacketWindowTests()
    {
        _memory = new ReceiveMemory(_pool, 1_472);
        _window = Window(_memory);
        _block = _pool.TryRent()!;
    }

    [Fact]
    public void Packets_that_are_put_are_held_with_their_bytes()
    {
        Put(1, 3);

        Assert.True(_window.Holds(1) && _window.Contains(1));
        Assert.False(_window.Holds(2) || _window.Contains(2));
        Assert.Equal(2 * PacketBytes, _window.HeldBytes);
        Assert.True(_window[3].Packet.SequenceEqual(_block.Span.Slice(300, PacketBytes)));
    }

    [Fact]
    public void It_takes_numbers_from_its_base_on_and_no_more_than_its_options_say()
    {
        Assert.False(_window.Takes(0));
        Assert.True(_window.Takes(1));
        Assert.True(_window.Takes(MaxPackets));
        Assert.False(_window.Takes(MaxPackets + 1));

        _window.ReleaseThrough(10);

        Assert.False(_window.Takes(10));
        Assert.True(_window.Takes(MaxPackets + 10));
    }

    [Fact]
    public void Each_packet_has_a_claim_on_its_block_until_it_is_let_go()
    {
        Put(1, 2, 3, 4);
        Assert.Equal(5, _block.Claims);

        _window.ReleaseThrough(2);
        Assert.Equal(3, _block.Claims);
        _window.Drop(4);
        Assert.Equal(2, _block.Claims);
        _window.Clear(4);
        Assert.Equal(1, _block.Claims);
        Assert.Equal(0, _window.HeldBytes);
    }

    [Fact]
    public void A_dropped_packet_is_known_and_not_held()
    {
        Put(1, 2);
        _window.Drop(2);

        Assert.True(_window.Contains(2));
        Assert.False(_window.Holds(2));
        Assert.Equal(PacketBytes, _window.HeldBytes);
    }

    [Fact]
    public void A_lost_packet_is_known_and_not_held()
    {
        _window.PutLost(5);

        Assert.True(_window.Contains(5));
        Assert.False(_window.Holds(5));
        Assert.Equal(0, _window.HeldBytes);
    }

    [Fact]
    public void The_notes_on_a_missing_packet_are_gone_when_it_comes()
    {
        _window.Missing(2).Asked = 3;
        Assert.False(_window.Contains(2));
        Assert.Equal(3, _window.Missing(2).Asked);

        Put(2);

        Assert.Equal(0, _window[2].Asked);
        Assert.Equal(TimeSpan.MinValue, _window[2].SentAt);
    }

    [Fact]
    public void It_grows_over_what_it_holds_and_loses_nothing()
    {
        Put(1, 64, 65, 500, MaxPackets);

        Assert.Equal([1, 64, 65, 500, MaxPackets], Held());
    }

    [Fact]
    public void It_shrinks_when_it_was_not_used_for_two_looks_and_loses_nothing()
    {
        Put(1, MaxPackets);
        _window.ReleaseThrough(MaxPackets - 3);
        for (int look = 0; look < 3; look++)
        {
            _window.Trim(MaxPackets);
            Assert.Equal([MaxPackets], Held());
        }

        Put(MaxPackets - 1, MaxPackets + 60, MaxPackets + 61);
        Assert.Equal([MaxPackets - 1, MaxPackets, MaxPackets + 60, MaxPackets + 61], Held());
    }

    [Fact]
    public void A_skip_lets_go_of_all_and_continues_there()
    {
        Put(1, 2, 40);

        _window.SkipTo(100_000);

        Assert.Equal((100_000, 0), (_window.Base, _window.HeldBytes));
        Assert.Equal(1, _block.Claims);
        Put(100_001);
        Assert.True(_window.Holds(100_001));
    }

    [Fact]
    public void A_stream_is_counted_as_holding_from_its_first_byte_to_its_last()
    {
        var other = Window(_memory);
        Put(1, 2);
        other.Put(1, _block, 0, PacketBytes);
        Assert.Equal(2, _memory.HoldingStreams);

        _window.ReleaseThrough(1);
        Assert.Equal(2, _memory.HoldingStreams);
        _window.ReleaseThrough(2);
        Assert.Equal(1, _memory.HoldingStreams);
        other.SkipTo(7);
        Assert.Equal(0, _memory.HoldingStreams);
    }

    [Fact]
    public void Packets_in_places_of_their_own_are_counted()
    {
        var place = _memory.TryPlace(new byte[PacketBytes], _window.Placed)!;
        Put(1);
        _window.Put(2, place, 0, PacketBytes);
        Assert.Equal(1, _window.Placed);

        _window.ReleaseThrough(1);
        Assert.Equal(1, _window.Placed);
        _window.ReleaseThrough(2);
        Assert.Equal(0, _window.Placed);
        place.Release();
    }

    // Against a dictionary: whatever is done in whatever order, both say the same of each number.
    [Fact]
    public void It_says_of_each_number_what_a_dictionary_says()
    {
        var step = from kind in Gen.Choose(0, 5) from at in Gen.Choose(0, 300) select (Kind: kind, At: at);
        Prop.ForAll(step.ArrayOf().ToArbitrary(), steps =>
        {
            var window = Window(new ReceiveMemory(_pool, 1_472));
            var model = new Dictionary<long, SlotState>();
            long first = 1;
            long highest = 0;
            foreach (var (kind, ahead) in steps)
            {
                long number = first + ahead;
                bool isEmpty = !model.ContainsKey(number);
                switch (kind)
                {
                    case 0 or 1 when isEmpty:
                        window.Put(number, _block, 0, PacketBytes);
                        model.Add(number, SlotState.Held);
                        highest = Math.Max(highest, number);
                        break;
                    case 2 when isEmpty:
                        window.PutLost(number);
                        model.Add(number, SlotState.Lost);
                        highest = Math.Max(highest, number);
                        break;
                    case 3 when !isEmpty:
                        window.Drop(number);
                        model[number] = SlotState.Dropped;
                        break;
                    case 4:
                        // No further than what has come.
                        first = Math.Min(first + (ahead / 4), highest + 1);
                        window.ReleaseThrough(first - 1);
                        break;
                    case 5:
                        window.Trim(highest);
                        break;
                }

                foreach (long past in model.Keys.Where(known => known < first).ToList())
                {
                    model.Remove(past);
                }

                Assert.Equal(first, window.Base);
                Assert.Equal(model.Count(known => known.Value == SlotState.Held) * PacketBytes, window.HeldBytes);
                for (long n = first; n <= first + 400; n++)
                {
                    Assert.Equal(model.ContainsKey(n), window.Contains(n));
                    Assert.Equal(model.GetValueOrDefault(n) == SlotState.Held, window.Holds(n));
                }
            }

            window.Clear(highest);
            Assert.Equal(1, _block.Claims);
        }).QuickCheckThrowOnFailure();
    }

    private static PacketWindow Window(ReceiveMemory memory) => new(MaxPackets, memory);

    private void Put(params long[] numbers)
    {
        foreach (long number in numbers)
        {
            _window.Put(number, _block, (int)(number % 600) * PacketBytes, PacketBytes);
        }
    }

    private List<long> Held()
    {
        var held = new List<long>();
        for (long n = _window.Base; n < _window.Base + (2 * MaxPackets); n++)
        {
            if (_window.Holds(n))
            {
                held.Add(n);
            }
        }

        return held;
    }
}
