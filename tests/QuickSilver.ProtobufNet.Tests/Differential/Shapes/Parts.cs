using System.Runtime.Serialization;
using ProtoBuf;
using QuickSilver.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// What the shapes are made of.
public enum Hue
{
    None = 0,
    Red = 1,
    Below = -1,
}

public enum WideHue : long
{
    None = 0,
    Far = long.MaxValue,
}

public enum SmallHue : byte
{
    None = 0,
    Full = 255,
}

[DataContract]
public sealed class Leaf
{
    [DataMember(Order = 1)] public int Number { get; set; }
    [DataMember(Order = 2)] public string? Text { get; set; }
    [DataMember(Order = 3)] public List<int> Numbers { get; set; } = [];
}

[DataContract]
public struct Spot
{
    [DataMember(Order = 1)] public int X { get; set; }
    [DataMember(Order = 2)] public int Y { get; set; }
}

// The subtypes of a base without members, declared for both codecs.
[ProtoContract, ProtoInclude(1, typeof(Cash)), ProtoInclude(2, typeof(Bond))]
[Subtype(1, typeof(Cash)), Subtype(2, typeof(Bond))]
public abstract class Holding;

[DataContract]
public sealed class Cash : Holding
{
    [DataMember(Order = 1)] public decimal Amount { get; set; }
}

[DataContract]
public sealed class Bond : Holding
{
    [DataMember(Order = 1)] public string? Issuer { get; set; }
    [DataMember(Order = 2)] public int Years { get; set; }
}
