using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// A list of each type.
[DataContract]
public sealed class Lists
{
    [DataMember(Order = 1)] public List<int> Int32List { get; set; } = [];
    [DataMember(Order = 2)] public List<long> Int64List { get; set; } = [];
    [DataMember(Order = 3)] public List<uint> UInt32List { get; set; } = [];
    [DataMember(Order = 4)] public List<ulong> UInt64List { get; set; } = [];
    [DataMember(Order = 5)] public List<short> Int16List { get; set; } = [];
    [DataMember(Order = 6)] public List<ushort> UInt16List { get; set; } = [];
    [DataMember(Order = 7)] public List<byte> UInt8List { get; set; } = [];
    [DataMember(Order = 8)] public List<sbyte> Int8List { get; set; } = [];
    [DataMember(Order = 9)] public List<char> LetterList { get; set; } = [];
    [DataMember(Order = 10)] public List<bool> FlagList { get; set; } = [];
    [DataMember(Order = 11)] public List<float> Real32List { get; set; } = [];
    [DataMember(Order = 12)] public List<double> Real64List { get; set; } = [];
    [DataMember(Order = 13)] public List<string> TextList { get; set; } = [];
    [DataMember(Order = 14)] public List<byte[]> BlobList { get; set; } = [];
    [DataMember(Order = 15)] public List<decimal> PriceList { get; set; } = [];
    [DataMember(Order = 16)] public List<Guid> IdList { get; set; } = [];
    [DataMember(Order = 17)] public List<DateTime> AtList { get; set; } = [];
    [DataMember(Order = 18)] public List<TimeSpan> TookList { get; set; } = [];
    [DataMember(Order = 19)] public List<DateOnly> DayList { get; set; } = [];
    [DataMember(Order = 20)] public List<TimeOnly> TimeList { get; set; } = [];
    [DataMember(Order = 21)] public List<Hue> HueList { get; set; } = [];
    [DataMember(Order = 22)] public List<WideHue> WideHueList { get; set; } = [];
    [DataMember(Order = 23)] public List<SmallHue> SmallHueList { get; set; } = [];
    [DataMember(Order = 24)] public List<Leaf> LeafList { get; set; } = [];
    [DataMember(Order = 25)] public List<Spot> SpotList { get; set; } = [];
}
