using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// Dictionaries whose values have no type in protobuf, of which Google's library knows nothing.
[DataContract]
public sealed class BclMaps
{
    [DataMember(Order = 1)] public Dictionary<string, decimal> TextToPrice { get; set; } = [];
    [DataMember(Order = 2)] public Dictionary<string, Guid> TextToId { get; set; } = [];
    [DataMember(Order = 3)] public Dictionary<string, DateTime> TextToAt { get; set; } = [];
    [DataMember(Order = 4)] public Dictionary<string, TimeSpan> TextToTook { get; set; } = [];
}
