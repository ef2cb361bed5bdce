using System.Collections.Immutable;
using System.Runtime.Serialization;

public enum Color : byte { None, Red, Blue }

public enum Far : long { Out = long.MinValue }

[Flags]
public enum Rights { None = 0, Read = 1, Write = 2 }

[DataContract]
public sealed class Empty;

[QuickSilver.Serialization.Subtype(1, typeof(Disc))]
[QuickSilver.Serialization.Subtype(2, typeof(Strip))]
[System.Text.Json.Serialization.JsonDerivedType(typeof(Disc), 1)]
[System.Text.Json.Serialization.JsonDerivedType(typeof(Strip), 2)]
public abstract record Shape([property: DataMember(Order = 1)] string Name);

[DataContract]
public sealed record Disc(string Name, [property: DataMember(Order = 2)] double Radius) : Shape(Name);

[DataContract]
public sealed record Strip(string Name) : Shape(Name)
{
    [DataMember(Order = 2)] public List<Point> Points { get; init; } = [];
}

[DataContract]
public sealed class Drawing
{
    [DataMember(Order = 1)] public List<Shape> Shapes { get; set; } = [];
    [DataMember(Order = 2)] public Dictionary<string, Shape> ByName { get; set; } = [];
    [DataMember(Order = 3)] public Shape? Last { get; set; }
}

[DataContract]
public sealed class Scalars
{
    [DataMember(Order = 1)] public int Int { get; set; }
    [DataMember(Order = 2)] public long Long { get; set; }
    [DataMember(Order = 3)] public uint UInt { get; set; }
    [DataMember(Order = 4)] public ulong ULong { get; set; }
    [DataMember(Order = 5)] public short Short { get; set; }
    [DataMember(Order = 6)] public ushort UShort { get; set; }
    [DataMember(Order = 7)] public byte Byte { get; set; }
    [DataMember(Order = 8)] public sbyte SByte { get; set; }
    [DataMember(Order = 9)] public char Char { get; set; }
    [DataMember(Order = 10)] public bool Bool { get; set; }
    [DataMember(Order = 11)] public float Float { get; set; }
    [DataMember(Order = 12)] public double Double { get; set; }
    [DataMember(Order = 13)] public string Text { get; set; } = "";
    [DataMember(Order = 14)] public byte[] Bytes { get; set; } = [];
    [DataMember(Order = 15)] public ReadOnlyMemory<byte> Memory { get; set; }
    [DataMember(Order = 16)] public decimal Decimal { get; set; }
    [DataMember(Order = 17)] public Guid Id { get; set; }
    [DataMember(Order = 18)] public DateTime At { get; set; }
    [DataMember(Order = 19)] public DateTimeOffset There { get; set; }
    [DataMember(Order = 536_870_911)] public TimeSpan Took { get; set; }
}

[DataContract]
public sealed class Nullables
{
    [DataMember(Order = 1)] public int? Int { get; set; }
    [DataMember(Order = 2)] public bool? Bool { get; set; }
    [DataMember(Order = 3)] public double? Double { get; set; }
    [DataMember(Order = 4)] public string? Text { get; set; }
    [DataMember(Order = 5)] public decimal? Decimal { get; set; }
    [DataMember(Order = 6)] public Guid? Id { get; set; }
    [DataMember(Order = 7)] public DateTime? At { get; set; }
    [DataMember(Order = 8)] public Color? Color { get; set; }
    [DataMember(Order = 9)] public Point? Point { get; set; }
    [DataMember(Order = 10)] public Leg? Leg { get; set; }
    [DataMember(Order = 11)] public byte[]? Bytes { get; set; }
    [DataMember(Order = 12)] public List<Leg>? Legs { get; set; }
    [DataMember(Order = 13)] public Dictionary<string, Leg>? ByName { get; set; }
}

[DataContract]
public sealed class Enums
{
    [DataMember(Order = 1)] public Color Color { get; set; }
    [DataMember(Order = 2)] public Far Far { get; set; }
    [DataMember(Order = 3)] public Rights Rights { get; set; }
    [DataMember(Order = 4)] public Color Unknown { get; set; }
    [DataMember(Order = 5)] public List<Color> Many { get; set; } = [];
    [DataMember(Order = 6)] public Dictionary<string, Color> ByName { get; set; } = [];
}

[DataContract]
public sealed class Leg
{
    [DataMember(Order = 1)] public string? From { get; set; }
    [DataMember(Order = 2)] public string? To { get; set; }
    [DataMember(Order = 3)] public double Miles { get; set; }
}

[DataContract]
public readonly record struct Point([property: DataMember(Order = 1)] int X, [property: DataMember(Order = 2)] int Y);

[DataContract]
public sealed class Holder
{
    [DataMember(Order = 1)] public string? Title { get; set; }
    [DataMember(Order = 2)] public Leg Leg { get; set; } = new();
    [DataMember(Order = 3)] public Leg? Maybe { get; set; }
    [DataMember(Order = 4)] public Point Point { get; set; }
}

[DataContract]
public sealed class Lists
{
    [DataMember(Order = 1)] public List<Leg> Legs { get; set; } = [];
    [DataMember(Order = 2)] public Leg[] Array { get; set; } = [];
    [DataMember(Order = 3)] public IReadOnlyList<Leg> ReadOnly { get; set; } = [];
    [DataMember(Order = 4)] public ImmutableArray<Leg> Immutable { get; set; } = [];
    [DataMember(Order = 5)] public List<Point> Points { get; set; } = [];
    [DataMember(Order = 6)] public int[] Numbers { get; set; } = [];
    [DataMember(Order = 7)] public List<string> Texts { get; set; } = [];
    [DataMember(Order = 8)] public List<byte[]> Blobs { get; set; } = [];
    [DataMember(Order = 9)] public List<DateTime> Times { get; set; } = [];
}

[DataContract]
public sealed class Maps
{
    [DataMember(Order = 1)] public Dictionary<string, Leg> ByName { get; set; } = [];
    [DataMember(Order = 2)] public Dictionary<int, Point> ByNumber { get; set; } = [];
    [DataMember(Order = 3)] public Dictionary<char, string> ByChar { get; set; } = [];
    [DataMember(Order = 4)] public Dictionary<bool, double> ByFlag { get; set; } = [];
    [DataMember(Order = 5)] public Dictionary<long, DateTime> Times { get; set; } = [];
}

[DataContract]
public sealed class Tree
{
    [DataMember(Order = 1)] public string? Name { get; set; }
    [DataMember(Order = 2)] public List<Tree> Children { get; set; } = [];
    [DataMember(Order = 3)] public Tree? Twin { get; set; }
    [DataMember(Order = 4)] public Dictionary<int, Tree> ByNumber { get; set; } = [];
}

public static class Trees
{
    public static Tree Of(int depth) => depth == 0 ? new Tree { Name = "leaf" } : new Tree
    {
        Name = $"{depth}",
        Children = [Of(depth - 1), Of(0)],
        Twin = Of(depth / 2),
        ByNumber = new() { [depth] = Of(0) },
    };
}

[DataContract]
public sealed class Company
{
    [DataMember(Order = 1)] public string? Name { get; set; }
    [DataMember(Order = 2)] public List<Person> Staff { get; set; } = [];
}

[DataContract]
public sealed class Person
{
    [DataMember(Order = 1)] public string? Name { get; set; }
    [DataMember(Order = 2)] public List<Person> Reports { get; set; } = [];
    [DataMember(Order = 3)] public Dictionary<string, Company> Owns { get; set; } = [];
}

[DataContract]
public sealed record Departure(
    [property: DataMember(Order = 1)] string Flight, [property: DataMember(Order = 2)] int Gate, [property: DataMember(Order = 3)] Leg Leg);

[DataContract]
public readonly struct Fix(double latitude, double longitude)
{
    [DataMember(Order = 1)] public double Latitude { get; } = latitude;
    [DataMember(Order = 2)] public double Longitude { get; } = longitude;
}

[DataContract(Name = "WrittenInManyWays")]
public sealed class Written(int number)
{
    [DataMember(Order = 4)] public int Field;

    [DataMember(Order = 1)] public int Number { get; } = number;
    [DataMember(Order = 2, Name = "given")] public required string Name { get; init; }
    [DataMember(Order = 3)] public string? @class { get; internal set; }
    [DataMember(Order = 5, IsRequired = true)] public int Later { get; set; }

    public int NotSent => Number * 2;
}

public static class Air
{
    [DataContract]
    public sealed class Craft
    {
        [DataMember(Order = 1)] public int Number { get; set; }
    }
}

public static class Sea
{
    [DataContract]
    public sealed class Craft
    {
        [DataMember(Order = 1)] public string? Name { get; set; }
    }
}

[DataContract]
public sealed class SameNames
{
    [DataMember(Order = 1)] public Air.Craft? Air { get; set; }
    [DataMember(Order = 2)] public Sea.Craft? Sea { get; set; }
    [DataMember(Order = 3)] public List<Sea.Craft> Both { get; set; } = [];
}

public interface IEnvelope<T>
{
    T? Value { get; }
}

[DataContract]
public sealed class TextEnvelope : IEnvelope<string>
{
    [DataMember(Order = 1)] public string? Value { get; set; }
}

[DataContract]
public class Vehicle
{
    [DataMember(Order = 1)] public int Wheels { get; set; }
}

[DataContract]
public sealed class Truck
{
    [DataMember(Order = 1)] public Vehicle? Vehicle { get; set; }
    [DataMember(Order = 2)] public double Load { get; set; }
}
