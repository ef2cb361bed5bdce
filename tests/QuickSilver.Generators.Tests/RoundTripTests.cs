using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Generators.Tests;

public sealed class RoundTripTests
{
    [Fact]
    public void Types_that_protobuf_lacks_round_trip() => Prop.ForAll(Values.Times, value =>
    {
        var back = Codecs.Decode<Times>(Codecs.Encode(value));
        Assert.Equal(value with { Prices = back.Prices, Delays = back.Delays }, back);
        Assert.Equal(value.Prices, back.Prices);
        Assert.Equal(value.Delays, back.Delays);
        Assert.Equal(value.There.Offset, back.There.Offset);
        Assert.Equal(decimal.GetBits(value.Prices[0]), decimal.GetBits(back.Prices[0]));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Converted_types_round_trip() => Prop.ForAll(Values.Converted, value =>
        Assert.Equal(value, Codecs.Decode<Converted>(Codecs.Encode(value)))).QuickCheckThrowOnFailure();

    [Fact]
    public void The_extremes_of_converted_types_come_back_equal()
    {
        var page = new Uri("https://example.org");
        foreach (var value in new[]
        {
            new Converted(DateOnly.MinValue, TimeOnly.MinValue, Half.MinValue, page, Int128.MinValue, UInt128.MinValue),
            new Converted(DateOnly.MaxValue, TimeOnly.MaxValue, Half.MaxValue, page, Int128.MaxValue, UInt128.MaxValue),
            new Converted(default, default, Half.Epsilon, page, Int128.NegativeOne, UInt128.One),
            new Converted(default, default, Half.NegativeInfinity, page, 1, 0),
        })
        {
            Assert.Equal(value, Codecs.Decode<Converted>(Codecs.Encode(value)));
        }
    }

    [Fact]
    public void Sets_and_read_only_collections_round_trip() => Prop.ForAll(Values.Sets, value =>
    {
        var back = Codecs.Decode<Sets>(Codecs.Encode(value));
        Assert.True(value.Names.SetEquals(back.Names));
        // An empty collection is not distinguished from null, as in protobuf.
        Assert.Equal(value.MaybeNumbers is { Count: > 0 }, back.MaybeNumbers is not null);
        Assert.True(value.MaybeNumbers is null || value.MaybeNumbers.SetEquals(back.MaybeNumbers ?? []));
        Assert.True(value.Days.SetEquals(back.Days));
        Assert.Equal(value.Shares, back.Shares);
        Assert.Equal(value.Pages, back.Pages);
        Assert.Equal(value.Totals, back.Totals);
        Assert.Equal(value.MaybePages ?? new Dictionary<int, Uri>(), back.MaybePages ?? new Dictionary<int, Uri>());
        Assert.Equal(value.Times, back.Times);
        Assert.Equal(value.Points, back.Points);
        Assert.True(value.MaybePoints is null || value.MaybePoints.SetEquals(back.MaybePoints ?? new HashSet<Point>()));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void The_extremes_of_time_come_back_equal()
    {
        foreach (var value in new[]
        {
            new Times(decimal.MaxValue, Guid.Empty, DateTime.MinValue, DateTimeOffset.MinValue, TimeSpan.MinValue),
            new Times(decimal.MinValue, Guid.AllBitsSet, DateTime.MaxValue, DateTimeOffset.MaxValue, TimeSpan.MaxValue),
            new Times(0.0000000000000000000000000001m, Guid.Empty, DateTime.UnixEpoch, DateTimeOffset.UnixEpoch, new(long.MaxValue - 1)),
        })
        {
            var back = Codecs.Decode<Times>(Codecs.Encode(value));
            Assert.Equal(value with { Prices = back.Prices, Delays = back.Delays }, back);
        }
    }

    [Fact]
    public void Optional_members_keep_null_apart_from_default() => Prop.ForAll(Values.Optionals, value =>
    {
        var back = Codecs.Decode<Optionals>(Codecs.Encode(value));
        Assert.Equal(value.Int32, back.Int32);
        Assert.Equal(value.Int64, back.Int64);
        Assert.Equal(value.Flag, back.Flag);
        Assert.Equal(value.Precise, back.Precise);
        Assert.Equal(value.Text?.Replace("\ud800", "\ufffd"), back.Text);
        Assert.Equal(value.Blob, back.Blob);
        Assert.Equal(value.Color, back.Color);
        Assert.Equal(value.Point, back.Point);
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_field_less_payload_gives_values_that_are_safe_to_use()
    {
        var scalars = Codecs.Decode<Scalars>([]);
        Assert.Equal("", scalars.Text);
        Assert.Empty(scalars.Blob);
        var collections = Codecs.Decode<Collections>([]);
        Assert.Empty(collections.List);
        Assert.Empty(collections.Array);
        Assert.Empty(collections.ReadOnly);
        Assert.False(collections.Flags.IsDefault);
        Assert.Empty(Codecs.Decode<Maps>([]).Numbers);
        Assert.Null(Codecs.Decode<Tree>([]).Twin);
        Assert.Equal("", Codecs.Decode<Converted>([]).Page.OriginalString);
        var sets = Codecs.Decode<Sets>([]);
        Assert.Empty(sets.Names);
        Assert.Empty(sets.Days);
        Assert.Empty(sets.Shares);
        Assert.Empty(sets.Totals);
        Assert.Null(sets.MaybePoints);
    }

    [Fact]
    public void Null_where_none_is_allowed_is_written_as_nothing()
    {
        Assert.Empty(Codecs.Encode(new Maps { Numbers = null!, Names = null!, Points = null!, Blobs = null! }));
        Assert.Empty(Codecs.Encode(new Tree { Name = null!, Children = null! }));
        Assert.Equal([8, 0, 16, 0], Codecs.Encode(new Converted(default, default, default, null!, default, default)));
        Assert.Empty(Codecs.Encode(new Sets { Names = null!, Days = null!, Shares = null!, Pages = null!, Totals = null!, Times = null! }));
        Assert.Empty(Codecs.Encode(new Collections { List = null!, Array = null!, ReadOnly = null!, Flags = default, Texts = null! }));
    }

    [Fact]
    public void Null_where_none_is_allowed_arrives_as_empty_except_for_a_type_with_members()
    {
        byte[] bytes = Codecs.Encode(new NotNullable(null!, null!, null!, null!, null!, null));
        Assert.Empty(bytes);
        var back = Codecs.Decode<NotNullable>(bytes);
        Assert.Equal(("", "", null), (back.Text, back.Page.OriginalString, back.Maybe));
        Assert.Empty(back.Blob);
        Assert.Empty(back.Texts);
        Assert.Null(back.Tree);
    }

    [Fact]
    public void Structs_get_only_classes_and_nested_types_come_back()
    {
        var mutable = Codecs.Decode<Mutable>(Codecs.Encode(new Mutable { Count = -3, Label = "", Ignored = 9 }));
        Assert.Equal((-3, "", 0), (mutable.Count, mutable.Label, mutable.Ignored));

        var immutable = Codecs.Decode<Immutable>(Codecs.Encode(new Immutable(5, "five", new Point(1, 2)) { Always = 0 }));
        Assert.Equal((5, "five", new Point(1, 2), 0), (immutable.Number, immutable.Text, immutable.Where!.Value, immutable.Always));

        var inner = Codecs.Decode<Outer.Inner>(Codecs.Encode(new Outer.Inner(3, mutable)));
        Assert.Equal((3, -3, ""), (inner.@class, inner.Held.Count, inner.Held.Label));

        Assert.Equal(new Nothing(), Codecs.Decode<Nothing>(Codecs.Encode(new Nothing())));
    }

    [Fact]
    public void A_required_member_is_written_even_when_it_is_default() =>
        Assert.Equal([32, 0], Codecs.Encode(new Immutable(0, "", null) { Always = 0 }));

    [Fact]
    public void Added_fields_are_compatible_both_ways()
    {
        var newer = new VersionTwo("UA 412", 7, [new Point(1, 2)]);
        Assert.Equal("UA 412", Codecs.Decode<VersionOne>(Codecs.Encode(newer)).Flight);
        var older = Codecs.Decode<VersionTwo>(Codecs.Encode(new VersionOne("UA 412")));
        Assert.Equal("UA 412", older.Flight);
        Assert.Null(older.Gate);
        Assert.Empty(older.Route);
    }

    [Fact]
    public void Null_in_a_collection_is_refused_by_its_name()
    {
        var error = Assert.Throws<InvalidOperationException>(() => Codecs.Encode(new Collections { Texts = ["a", null!] }));
        Assert.Contains("Collections.Texts", error.Message);
        error = Assert.Throws<InvalidOperationException>(() => Codecs.Encode(new Maps { Names = new() { [1] = null! } }));
        Assert.Contains("Maps.Names", error.Message);
    }

    [Fact]
    public void A_value_that_contains_itself_is_refused()
    {
        var tree = new Tree { Name = "ouroboros" };
        tree.Twin = tree;
        Assert.Throws<InvalidOperationException>(() => Codecs.Of<Tree>().GetSize(tree));
        Assert.Throws<InvalidOperationException>(() => Codecs.Of<Tree>().Write(tree, new byte[10_000]));
    }

    [Fact]
    public void A_chain_may_be_as_long_as_the_limit_and_a_longer_one_is_refused_with_the_limit_and_what_to_do()
    {
        Assert.Equal(100, ProtobufLimits.MaxDepth);
        Assert.NotNull(Codecs.Decode<Tree>(Codecs.Encode(Chain(100))).Twin);
        var error = Assert.Throws<InvalidOperationException>(() => Codecs.Encode(Chain(1_000)));
        Assert.Contains("more than 100 deep", error.Message);
        Assert.Contains("List<T>", error.Message);

        static Tree Chain(int below)
        {
            var tree = new Tree();
            for (int i = 0; i < below; i++)
            {
                tree = new Tree { Twin = tree };
            }

            return tree;
        }
    }

    [Fact]
    public void An_empty_collection_of_a_nullable_type_arrives_as_null_and_an_empty_text_does_not()
    {
        var back = Codecs.Decode<NullableCollections>(
            Codecs.Encode(new NullableCollections { Numbers = [], Names = [], Texts = [], Text = "" }));
        Assert.Equal((null, null, null, ""), (back.Numbers, back.Names, back.Texts, back.Text));
    }

    [Fact]
    public void A_value_of_more_than_2_GiB_overflows_when_it_is_measured()
    {
        byte[] blob = new byte[16 << 20];
        Assert.Throws<OverflowException>(() =>
            Codecs.Of<Collections>().GetSize(new Collections { Blobs = [.. Enumerable.Repeat(blob, 200)] }));
    }

    [Fact]
    public void A_destination_that_is_too_small_is_refused()
    {
        var tree = new Tree { Name = new string('x', 200), Twin = new Tree { Name = new string('y', 200) } };
        int size = Codecs.Of<Tree>().GetSize(tree);
        for (int room = 0; room < size; room++)
        {
            Assert.Throws<ArgumentException>(() => Codecs.Of<Tree>().Write(tree, new byte[room]));
        }

        Assert.Throws<ArgumentNullException>(() => Codecs.Of<Tree>().GetSize(null!));
    }
}
