using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// A member of each type.
[DataContract]
public sealed class Singles
{
    [DataMember(Order = 1)] public int Int32 { get; set; }
    [DataMember(Order = 2)] public long Int64 { get; set; }
    [DataMember(Order = 3)] public uint UInt32 { get; set; }
    [DataMember(Order = 4)] public ulong UInt64 { get; set; }
    [DataMember(Order = 5)] public short Int16 { get; set; }
    [DataMember(Order = 6)] public ushort UInt16 { get; set; }
    [DataMember(Order = 7)] public byte UInt8 { get; set; }
    [DataMember(Order = 8)] public sbyte Int8 { get; set; }
    [DataMember(Order = 9)] public char Letter { get; set; }
    [DataMember(Order = 10)] public bool Flag { get; set; }
    [DataMember(Order = 11)] public float Real32 { get; set; }
    [DataMember(Order = 12)] public double Real64 { get; set; }
    [DataMember(Order = 13)] public string Text { get; set; } = "";
    [DataMember(Order = 14)] public string? MaybeText { get; set; }
    [DataMember(Order = 15)] public byte[] Blob { get; set; } = [];
    [DataMember(Order = 16)] public byte[]? MaybeBlob { get; set; }
    [DataMember(Order = 17)] public ReadOnlyMemory<byte> Memory { get; set; }
    [DataMember(Order = 18)] public decimal Price { get; set; }
    [DataMember(Order = 19)] public Guid Id { get; set; }
    [DataMember(Order = 20)] public DateTime At { get; set; }
    [DataMember(Order = 21)] public TimeSpan Took { get; set; }
    [DataMember(Order = 22)] public DateOnly Day { get; set; }
    [DataMember(Order = 23)] public TimeOnly Time { get; set; }
    [DataMember(Order = 24)] public Hue Hue { get; set; }
    [DataMember(Order = 25)] public WideHue WideHue { get; set; }
    [DataMember(Order = 26)] public SmallHue SmallHue { get; set; }
    [DataMember(Order = 27)] public Uri? MaybePage { get; set; }
    [DataMember(Order = 28)] public Leaf? MaybeLeaf { get; set; }
    [DataMember(Order = 33)] public Spot Spot { get; set; }
}
