using System.Runtime.Serialization;

namespace QuickSilver.Generators.Tests.Contracts;

// Shapes that protobuf has no words for, and ways to declare that Shapes.cs has not.
[DataContract]
public sealed record Times(
    [property: DataMember(Order = 1)] decimal Price,
    [property: DataMember(Order = 2)] Guid Id,
    [property: DataMember(Order = 3)] DateTime At,
    [property: DataMember(Order = 4)] DateTimeOffset There,
    [property: DataMember(Order = 5)] TimeSpan Took)
{
    [DataMember(Order = 6)]
    public decimal? MaybePrice { get; init; }

    [DataMember(Order = 7)]
    public Guid? MaybeId { get; init; }

    [DataMember(Order = 8)]
    public DateTime? MaybeAt { get; init; }

    [DataMember(Order = 9)]
    public DateTimeOffset? MaybeThere { get; init; }

    [DataMember(Order = 10)]
    public TimeSpan? MaybeTook { get; init; }

    [DataMember(Order = 11)]
    public List<decimal> Prices { get; init; } = [];

    [DataMember(Order = 12)]
    public Dictionary<string, TimeSpan> Delays { get; init; } = [];
}

// Types that are converted to ones that protobuf has words for, and 128-bit numbers.
[DataContract]
public sealed record Converted(
    [property: DataMember(Order = 1)] DateOnly Day,
    [property: DataMember(Order = 2)] TimeOnly Time,
    [property: DataMember(Order = 3)] Half Share,
    [property: DataMember(Order = 4)] Uri Page,
    [property: DataMember(Order = 5)] Int128 Signed,
    [property: DataMember(Order = 6)] UInt128 Unsigned)
{
    [DataMember(Order = 7)]
    public DateOnly? MaybeDay { get; init; }

    [DataMember(Order = 8)]
    public TimeOnly? MaybeTime { get; init; }

    [DataMember(Order = 9)]
    public Half? MaybeShare { get; init; }

    [DataMember(Order = 10)]
    public Uri? MaybePage { get; init; }

    [DataMember(Order = 11)]
    public Int128? MaybeSigned { get; init; }

    [DataMember(Order = 12)]
    public UInt128? MaybeUnsigned { get; init; }
}

// Collections of them, and the collections that are read-only or have no order.
[DataContract]
public sealed class Sets
{
    [DataMember(Order = 1)]
    public HashSet<string> Names { get; init; } = [];

    [DataMember(Order = 2)]
    public HashSet<int>? MaybeNumbers { get; init; }

    [DataMember(Order = 3)]
    public IReadOnlySet<DateOnly> Days { get; init; } = new HashSet<DateOnly>();

    [DataMember(Order = 4)]
    public IReadOnlyCollection<Half> Shares { get; init; } = [];

    [DataMember(Order = 5)]
    public IReadOnlyCollection<Uri> Pages { get; init; } = [];

    [DataMember(Order = 6)]
    public IReadOnlyDictionary<string, Int128> Totals { get; init; } = new Dictionary<string, Int128>();

    [DataMember(Order = 7)]
    public IReadOnlyDictionary<int, Uri>? MaybePages { get; init; }

    [DataMember(Order = 8)]
    public List<TimeOnly> Times { get; init; } = [];

    [DataMember(Order = 9)]
    public Point[] Points { get; init; } = [];

    [DataMember(Order = 10)]
    public IReadOnlySet<Point>? MaybePoints { get; init; }
}

[DataContract(Name = "Renamed")]
public struct Mutable
{
    [DataMember(Order = 1, Name = "count")]
    public int Count;

    [DataMember(Order = 2)]
    public string? Label { get; set; }

    [IgnoreDataMember]
    public int Ignored;
}

[DataContract]
public sealed class Immutable
{
    public Immutable(int number, string text, Point? where)
    {
        Number = number;
        Text = text;
        Where = where;
    }

    [DataMember(Order = 1)]
    public int Number { get; }

    [DataMember(Order = 2)]
    public readonly string Text;

    [DataMember(Order = 3)]
    public Point? Where { get; }

    [DataMember(Order = 4, IsRequired = true)]
    public int Always { get; set; } = 7;
}

public static class Outer
{
    [DataContract]
    internal sealed record Inner([property: DataMember(Order = 1)] int @class, [property: DataMember(Order = 2)] Mutable Held);
}

[DataContract]
public sealed record Nothing;

// The first version of a contract, and what became of it.
[DataContract]
public sealed record VersionOne([property: DataMember(Order = 1)] string Flight);

[DataContract]
public sealed record VersionTwo(
    [property: DataMember(Order = 1)] string Flight,
    [property: DataMember(Order = 2)] int? Gate,
    [property: DataMember(Order = 3)] List<Point> Route);
