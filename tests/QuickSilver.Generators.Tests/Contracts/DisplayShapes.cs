using System.Runtime.Serialization;

namespace QuickSilver.Generators.Tests.Contracts;

// What a schema says for display only.
[Flags]
public enum Doors : byte
{
    None = 0,
    Left = 1,
    Right = 2,
    Rear = 0x80,
}

public enum Largest : ulong
{
    Zero = 0,
    All = ulong.MaxValue,
}

[DataContract]
public sealed record Displayed(
    [property: DataMember(Order = 1)] Doors Open,
    [property: DataMember(Order = 2)] Largest Largest,
    [property: DataMember(Order = 3)] Dictionary<char, Doors> ByLetter,
    [property: DataMember(Order = 4)] List<DateOnly> Days,
    [property: DataMember(Order = 5)] TimeOnly? At,
    [property: DataMember(Order = 6)] char Letter,
    [property: DataMember(Order = 7)] Color? Color,
    [property: DataMember(Order = 8)] Wide Wide,
    [property: DataMember(Order = 9)] string? Note,
    [property: DataMember(Order = 10)] Uri Page,
    [property: DataMember(Order = 11)] short Small,
    [property: DataMember(Order = 12)] Half Share,
    [property: DataMember(Order = 13)] List<byte> Bytes);
