using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests;

[DataContract]
public sealed class Departure
{
    [DataMember(Order = 1)]
    public string? Flight { get; set; }

    [DataMember(Order = 2)]
    public int Passengers { get; set; }

    [DataMember(Order = 3)]
    public decimal Price { get; set; }

    [DataMember(Order = 4)]
    public Guid Id { get; set; }

    [DataMember(Order = 5)]
    public DateTime At { get; set; }

    [DataMember(Order = 6)]
    public TimeSpan Took { get; set; }

    [DataMember(Order = 7)]
    public Leg? First { get; set; }

    [DataMember(Order = 8)]
    public List<Leg> Legs { get; set; } = [];

    [DataMember(Order = 9)]
    public Dictionary<string, int> Seats { get; set; } = [];

    [DataMember(Order = 10, Name = "gate")]
    public int? Gate { get; set; }

    [DataMember(Order = 11)]
    public DayOfWeek Day { get; set; }

    [DataMember(Order = 12)]
    public byte[]? Blob { get; set; }

    [DataMember(Order = 13)]
    public Departure? Next { get; set; }

    [DataMember(Order = 14)]
    public DateOnly Date { get; set; }

    [DataMember(Order = 15)]
    public TimeOnly Time { get; set; }

    [DataMember(Order = 16)]
    public Uri? Page { get; set; }

    [DataMember(Order = 17)]
    public HashSet<string> Codes { get; set; } = [];

    [DataMember(Order = 18)]
    public DateOnly? Until { get; set; }

    [DataMember(Order = 19)]
    public IReadOnlyDictionary<string, int> Counts { get; set; } = new Dictionary<string, int>();
}

[DataContract(Name = "Stage")]
public sealed class Leg
{
    [DataMember(Order = 1)]
    public string? From { get; set; }

    [DataMember(Order = 2)]
    public double Miles { get; set; }
}

public enum Color : byte
{
    None = 0,
    Red = 1,
    Green = 2,
}

[Flags]
public enum Doors
{
    None = 0,
    Left = 1,
    Right = 2,
}

[DataContract]
public sealed class Shown
{
    [DataMember(Order = 1)]
    public List<DateOnly> Days { get; set; } = [];

    [DataMember(Order = 2)]
    public List<TimeOnly> Times { get; set; } = [];

    [DataMember(Order = 3)]
    public Color Color { get; set; }

    [DataMember(Order = 4)]
    public Doors? Doors { get; set; }

    [DataMember(Order = 5)]
    public char Letter { get; set; }

    [DataMember(Order = 6)]
    public List<byte> Bytes { get; set; } = [];

    [DataMember(Order = 7)]
    public Dictionary<short, Color> Colors { get; set; } = [];

    [DataMember(Order = 8)]
    public string Name { get; set; } = "";

    [DataMember(Order = 9)]
    public Uri? Page { get; set; }

    [DataMember(Order = 10)]
    public sbyte Least { get; set; }

    [DataMember(Order = 11)]
    public List<Doors>? All { get; set; }
}
