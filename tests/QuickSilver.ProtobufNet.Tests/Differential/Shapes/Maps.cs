using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// Dictionaries of each kind of key and value.
[DataContract]
public sealed class Maps
{
    [DataMember(Order = 1)] public Dictionary<string, int> TextToInt32 { get; set; } = [];
    [DataMember(Order = 2)] public Dictionary<int, string> Int32ToText { get; set; } = [];
    [DataMember(Order = 3)] public Dictionary<ulong, Spot> UInt64ToSpot { get; set; } = [];
    [DataMember(Order = 4)] public Dictionary<bool, double> FlagToReal64 { get; set; } = [];
    [DataMember(Order = 5)] public Dictionary<long, byte[]> Int64ToBlob { get; set; } = [];
    [DataMember(Order = 6)] public Dictionary<int, Hue> Int32ToHue { get; set; } = [];
    [DataMember(Order = 7)] public Dictionary<string, Leaf> TextToLeaf { get; set; } = [];
    [DataMember(Order = 8)] public Dictionary<uint, bool> UInt32ToFlag { get; set; } = [];
    [DataMember(Order = 13)] public Dictionary<short, long> Int16ToInt64 { get; set; } = [];
    [DataMember(Order = 14)] public IReadOnlyDictionary<string, int> ReadOnly { get; set; } = new Dictionary<string, int>();
}
