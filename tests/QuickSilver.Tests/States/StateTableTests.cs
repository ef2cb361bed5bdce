using QuickSilver.Serialization;
using QuickSilver.States;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.States;

public sealed class StateTableTests
{
    private const int MaxKeys = 100;
    private static readonly NodeId Low = new(1, 1);
    private static readonly NodeId High = new(2, 1);

    private readonly ManualTime _time = new();

    [Fact]
    public void Entries_that_come_in_any_order_and_several_times_lead_to_the_same_content()
    {
        var chance = new Random(1);
        var entries = Enumerable.Range(1, 500).Select(i => Entry($"{chance.Next(50)}", i / 2, i % 2 == 0 ? Low : High, chance.Next(4) == 0))
            .ToArray();
        var expected = Filled(entries);
        for (int i = 0; i < 20; i++)
        {
            var some = entries.Concat(entries.Take(100)).ToArray();
            chance.Shuffle(some);
            var table = Filled(some);
            Assert.Equal(expected.ToArray().Select(Text), table.ToArray().Select(Text));
            Assert.Equal(expected.Count, table.Count);
        }
    }

    [Fact]
    public void The_higher_number_wins_and_of_equal_ones_the_higher_node()
    {
        var table = Filled(Entry("a", 5, High));
        Assert.False(table.Merge(Entry("a", 5, Low)));
        Assert.False(table.Merge(Entry("a", 4, High)));
        Assert.True(table.Merge(Entry("a", 6, Low)));
        Assert.Equal(7, table.NextStamp("b", Low).Counter);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Changes_of_one_key_that_are_taken_back_leave_what_was_before_all_of_them(bool newestFirst)
    {
        var table = Filled(Entry("a", 1, High));
        StateEntry<string, string>[] changes = [Entry("a", 2, Low), Entry("a", 3, Low, isRemoved: true), Entry("a", 4, Low)];
        var replaced = new StateEntry<string, string>?[changes.Length];
        for (int i = 0; i < changes.Length; i++)
        {
            table.BeginChange();
            Assert.True(table.Merge(changes[i], out replaced[i]));
        }

        for (int i = 0; i < changes.Length; i++)
        {
            int at = newestFirst ? changes.Length - 1 - i : i;
            table.Revert(changes[at], replaced[at]);
            table.SettleChange();
        }

        Assert.True(table.TryGet("a", out var left));
        Assert.Equal((1, High), (left.Stamp.Counter, left.Stamp.Origin));
        Assert.Equal(1, table.Count);
    }

    [Fact]
    public void A_change_that_was_accepted_stays_when_the_one_before_it_is_taken_back()
    {
        var table = Filled(Entry("a", 1, High));
        StateEntry<string, string> first = Entry("a", 2, Low), second = Entry("a", 3, Low);
        table.BeginChange();
        table.Merge(first, out var beforeFirst);
        table.BeginChange();
        table.Merge(second, out _);
        table.Revert(first, beforeFirst);
        table.SettleChange();
        table.SettleChange();

        Assert.True(table.TryGet("a", out var left));
        Assert.Same(second, left);
    }

    [Fact]
    public void Removed_keys_are_remembered_for_a_time_and_as_many_as_there_may_be_keys()
    {
        var table = Filled(Entry("a", 1, Low));
        table.Merge(Entry("a", 2, Low, isRemoved: true));
        Assert.False(table.TryGet("a", out _));
        Assert.Equal((0, 1), (table.Count, table.Entries));
        Assert.False(table.Merge(Entry("a", 1, High)));
        for (int i = 0; i < 1000; i++)
        {
            table.Merge(Entry($"{i}", 10 + i, Low, isRemoved: true));
        }

        Assert.Equal((0, MaxKeys), (table.Count, table.Entries));
        _time.Advance(StateTable<string, string>.RemovalsKept + TimeSpan.FromSeconds(1));
        table.Merge(Entry("b", 5000, Low, isRemoved: true));
        Assert.Equal(1, table.Entries);
    }

    [Fact]
    public void A_key_that_is_set_again_is_not_forgotten_with_its_removal()
    {
        var table = Filled(Entry("a", 1, Low, isRemoved: true), Entry("a", 2, Low));
        _time.Advance(StateTable<string, string>.RemovalsKept * 2);
        table.Merge(Entry("b", 3, Low, isRemoved: true));
        Assert.True(table.TryGet("a", out _));
    }

    [Fact]
    public void Entries_that_are_malformed_are_refused()
    {
        var bytes = new StateEntryBytes<string, string>(new StringCodec(), new StringCodec());
        var entry = Entry("key", 77, High);
        byte[] written = new byte[bytes.GetSize(entry)];
        Assert.Equal(written.Length, bytes.Write(entry, written));
        ReadOnlySpan<byte> source = written;
        Assert.Equal(Text(entry), Text(bytes.Read(ref source)));
        Assert.True(source.IsEmpty);
        for (int length = 0; length < written.Length; length++)
        {
            Assert.Throws<PayloadFormatException>(() =>
            {
                ReadOnlySpan<byte> cut = written.AsSpan(0, length);
                bytes.Read(ref cut);
            });
        }

        written.AsSpan(0, 8).Fill(0x7f);
        Assert.Throws<PayloadFormatException>(() =>
        {
            ReadOnlySpan<byte> huge = written;
            bytes.Read(ref huge);
        });
    }

    private StateTable<string, string> Filled(params ReadOnlySpan<StateEntry<string, string>> entries)
    {
        var table = new StateTable<string, string>(MaxKeys, _time);
        foreach (var entry in entries)
        {
            table.Merge(entry);
        }

        return table;
    }

    private static StateEntry<string, string> Entry(string key, long counter, NodeId origin, bool isRemoved = false) =>
        new(key, isRemoved ? null : $"{counter} of {origin}", isRemoved, new StateStamp(counter, origin));

    private static string Text(StateEntry<string, string> entry) => $"{entry.Key} {entry.Value} {entry.IsRemoved} {entry.Stamp}";
}
