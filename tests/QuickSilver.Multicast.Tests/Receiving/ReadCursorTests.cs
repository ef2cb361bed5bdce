using QuickSilver.Multicast.Receiving.States;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class ReadCursorTests
{
    private const int ReadAhead = 32;

    private ReadCursor _cursor;

    [Fact]
    public void Packets_are_read_up_to_a_limit_behind_one_that_waits()
    {
        Assert.True(_cursor.MayRead(ReadAhead));
        Assert.False(_cursor.MayRead(ReadAhead + 1));
        _cursor.Parse();
        _cursor.Consume();
        Assert.True(_cursor.MayRead(ReadAhead + 1));
    }

    [Fact]
    public void A_stream_that_is_held_up_continues_when_all_that_is_parsed_was_accepted()
    {
        Parse(ReadAhead);
        _cursor.HoldUp(isReliable: true);
        Assert.True(_cursor.IsHeldUp);

        Consume(ReadAhead - 1);
        _cursor.HoldUp(isReliable: true);
        Assert.True(_cursor.IsHeldUp);
        Assert.False(_cursor.MayRead(ReadAhead + 1));

        Consume(1);
        _cursor.HoldUp(isReliable: true);
        Assert.True(_cursor.MayRead(ReadAhead + 1));
    }

    [Fact]
    public void An_unreliable_stream_is_never_held_up()
    {
        Parse(2 * ReadAhead);
        _cursor.HoldUp(isReliable: false);
        Assert.False(_cursor.IsHeldUp);
    }

    [Fact]
    public void Nothing_is_read_while_there_is_no_memory()
    {
        _cursor.Starve(1);
        Assert.True(_cursor.IsStarved && _cursor.IsAnyRefused);
        Assert.False(_cursor.MayRead(1));
        _cursor.EndStarving();
        Assert.True(_cursor.MayRead(1));
    }

    [Fact]
    public void A_refused_packet_hides_what_it_contains_until_it_is_parsed()
    {
        _cursor.Refuse(5);
        _cursor.Refuse(3);
        Parse(4);
        Assert.True(_cursor.HidesRefused);
        Parse(1);
        Assert.False(_cursor.HidesRefused);
        Assert.Equal(5, _cursor.TakeRefused());
        Assert.False(_cursor.IsAnyRefused);
    }

    [Fact]
    public void A_stream_continues_behind_its_end()
    {
        _cursor.SkipTo(100);
        Assert.Equal((100, 100), (_cursor.Consumed, _cursor.Parsed));
        Assert.True(_cursor.MayRead(100 + ReadAhead));
    }

    private void Parse(int packets)
    {
        for (int i = 0; i < packets; i++)
        {
            _cursor.Parse();
        }
    }

    private void Consume(int packets)
    {
        for (int i = 0; i < packets; i++)
        {
            _cursor.Consume();
        }
    }
}
