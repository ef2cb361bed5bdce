using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;

namespace QuickSilver.Generators.Tests;

public sealed class AllocationTests
{
    private static readonly Scalars SomeScalars =
        new(1, -2, 3, 4, -5, 6, 7, -8, 'i', true, 1.5f, 2.5, "text", [1, 2, 3], new byte[] { 4 }, Color.Green, Wide.Far);

    private static readonly Times SomeTimes =
        new(1.5m, new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), DateTime.UnixEpoch, DateTimeOffset.UnixEpoch, TimeSpan.FromTicks(1));

    [Fact]
    public void Writing_allocates_nothing()
    {
        WritesWithoutAllocating(SomeScalars);
        WritesWithoutAllocating(SomeTimes with { Prices = [1m, 2m], MaybePrice = 3m });
        WritesWithoutAllocating(new Optionals { Int32 = 1, Flag = true, Precise = 1, Text = "t", Color = Color.Red, Point = new(1, 2) });
        WritesWithoutAllocating(new Mutable { Count = 1, Label = "l" });
        WritesWithoutAllocating(new Tree { Name = new string('n', 500), Children = [new Tree { Name = "c" }], Twin = new Tree() });
        WritesWithoutAllocating(new Maps { Numbers = new() { ["a"] = 1 }, Points = new() { [1] = new Point(1, 2) } });
        WritesWithoutAllocating(new Collections { List = [1, 2], Array = [3], ReadOnly = [1.0], Texts = ["a"], Points = [new(1, 2)] });
    }

    [Fact]
    public void Reading_a_value_type_allocates_nothing() => Assert.Equal(0, AllocatedByReading(new Point(300, -1)));

    [Fact]
    public void Reading_allocates_the_object_and_what_it_holds_alone()
    {
        Assert.Equal(
            Allocations.After(() => _ = new Scalars(
                1, 2, 3, 4, 5, 6, 7, 8, 'i', true, 1f, 2, new string('t', 4), new byte[3], new byte[1], Color.Red, Wide.Far)),
            AllocatedByReading(SomeScalars));
        Assert.Equal(
            Allocations.After(() => _ = new Tree
            {
                Name = new string('n', 3),
                Children = new List<Tree>(2)
                {
                    new() { Name = new string('a', 5), Children = [] },
                    new() { Name = new string('b', 5), Children = [] },
                },
            }),
            AllocatedByReading(new Tree { Name = "abc", Children = [new() { Name = "first" }, new() { Name = "other" }] }));
        Assert.Equal(
            Allocations.After(() => _ = new Collections
            {
                List = new List<int>(1000),
                Array = new long[1000],
                ReadOnly = new double[1000],
                Texts = new List<string>(2) { new('a', 3), new('b', 3) },
                Points = new Point[10],
            }),
            AllocatedByReading(new Collections
            {
                List = [.. Enumerable.Range(1, 1000)],
                Array = [.. Enumerable.Range(1, 1000).Select(number => (long)number)],
                ReadOnly = [.. Enumerable.Range(1, 1000).Select(number => (double)number)],
                Texts = ["one", "two"],
                Points = [.. Enumerable.Repeat(new Point(1, 1), 10)],
            }));
    }

    private static void WritesWithoutAllocating<T>(T value)
    {
        var codec = Codecs.Of<T>();
        var buffer = new byte[4096];
        Assert.Equal(0, Allocations.After(() =>
        {
            int size = codec.GetSize(in value);
            codec.Write(in value, buffer.AsSpan(0, size));
        }));
    }

    private static long AllocatedByReading<T>(T value)
    {
        IPayloadCodec<T> codec = Codecs.Of<T>();
        byte[] bytes = Codecs.Encode(value);
        return Allocations.After(() => codec.Read(bytes));
    }
}
