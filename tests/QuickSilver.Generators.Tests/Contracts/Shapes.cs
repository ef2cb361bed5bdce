using System.Collections.Immutable;
using System.Runtime.Serialization;

namespace QuickSilver.Generators.Tests.Contracts;

// The shapes of shapes.proto, each declared in another of the ways that C# has.
public enum Color
{
    None = 0,
    Red = 1,
    Green = 2,
}

public enum Wide : long
{
    None = 0,
    Far = long.MaxValue,
    Below = -1,
}

[DataContract]
public sealed record Scalars(
    [property: DataMember(Order = 1)] int Int32,
    [property: DataMember(Order = 2)] long Int64,
    [property: DataMember(Order = 3)] uint UInt32,
    [property: DataMember(Order = 4)] ulong UInt64,
    [property: DataMember(Order = 5)] short Int16,
    [property: DataMember(Order = 6)] ushort UInt16,
    [property: DataMember(Order = 7)] byte Small,
    [property: DataMember(Order = 8)] sbyte SignedSmall,
    [property: DataMember(Order = 9)] char Letter,
    [property: DataMember(Order = 10)] bool Flag,
    [property: DataMember(Order = 11)] float Single,
    [property: DataMember(Order = 12)] double Precise,
    [property: DataMember(Order = 13)] string Text,
    [property: DataMember(Order = 14)] byte[] Blob,
    [property: DataMember(Order = 15)] ReadOnlyMemory<byte> Memory,
    [property: DataMember(Order = 16)] Color Color,
    [property: DataMember(Order = 536870911)] Wide Wide);

[DataContract]
public sealed class Optionals
{
    [DataMember(Order = 1)]
    public int? Int32 { get; set; }

    [DataMember(Order = 2)]
    public long? Int64 { get; init; }

    [DataMember(Order = 3)]
    public bool? Flag { get; internal set; }

    [DataMember(Order = 4)]
    public required double? Precise { get; set; }

    [DataMember(Order = 5)]
    public string? Text { get; init; }

    [DataMember(Order = 6)]
    public byte[]? Blob;

    [DataMember(Order = 7)]
    public Color? Color { get; set; }

    [DataMember(Order = 300)]
    public Point? Point { get; set; }
}

[DataContract]
public readonly record struct Point([property: DataMember(Order = 1)] int X, [property: DataMember(Order = 2)] int Y);

[DataContract]
public sealed record Collections
{
    [DataMember(Order = 1)]
    public List<int> List { get; init; } = [];

    [DataMember(Order = 2)]
    public long[] Array { get; init; } = [];

    [DataMember(Order = 3)]
    public IReadOnlyList<double> ReadOnly { get; init; } = [];

    [DataMember(Order = 4)]
    public ImmutableArray<bool> Flags { get; init; } = [];

    [DataMember(Order = 5)]
    public List<string> Texts { get; init; } = [];

    [DataMember(Order = 6)]
    public byte[][] Blobs { get; init; } = [];

    [DataMember(Order = 7)]
    public IReadOnlyList<Point> Points { get; init; } = [];

    [DataMember(Order = 8)]
    public ImmutableArray<Color> Colors { get; init; } = [];

    [DataMember(Order = 9)]
    public char[] Letters { get; init; } = [];

    [DataMember(Order = 10)]
    public ImmutableArray<Tree> Trees { get; init; } = [];
}

[DataContract]
public sealed record NotNullable(
    [property: DataMember(Order = 1)] string Text,
    [property: DataMember(Order = 2)] byte[] Blob,
    [property: DataMember(Order = 3)] List<string> Texts,
    [property: DataMember(Order = 4)] Uri Page,
    [property: DataMember(Order = 5)] Tree Tree,
    [property: DataMember(Order = 6)] string? Maybe);

[DataContract]
public sealed record NullableCollections
{
    [DataMember(Order = 1)]
    public List<int>? Numbers { get; init; }

    [DataMember(Order = 2)]
    public Dictionary<int, string>? Names { get; init; }

    [DataMember(Order = 3)]
    public string[]? Texts { get; init; }

    [DataMember(Order = 4)]
    public string? Text { get; init; }
}

[DataContract]
public sealed class Maps
{
    [DataMember(Order = 1)]
    public Dictionary<string, int> Numbers { get; set; } = [];

    [DataMember(Order = 2)]
    public Dictionary<int, string> Names { get; set; } = [];

    [DataMember(Order = 3)]
    public Dictionary<ulong, Point> Points { get; set; } = [];

    [DataMember(Order = 4)]
    public Dictionary<bool, double> Rates { get; set; } = [];

    [DataMember(Order = 5)]
    public Dictionary<long, byte[]> Blobs { get; set; } = [];

    [DataMember(Order = 6)]
    public Dictionary<int, Color> Colors { get; set; } = [];
}

[DataContract]
public sealed class Tree
{
    [DataMember(Order = 1)]
    public string Name { get; set; } = "";

    [DataMember(Order = 2)]
    public List<Tree> Children { get; set; } = [];

    [DataMember(Order = 3)]
    public Tree? Twin { get; set; }
}
