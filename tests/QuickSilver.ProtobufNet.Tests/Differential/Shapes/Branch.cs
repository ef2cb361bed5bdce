using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// A message within itself, in each way.
[DataContract]
public sealed class Branch
{
    [DataMember(Order = 1)] public string? Name { get; set; }
    [DataMember(Order = 2)] public Branch? First { get; set; }
    [DataMember(Order = 3)] public List<Branch> Others { get; set; } = [];
    [DataMember(Order = 4)] public Dictionary<int, Branch> ByNumber { get; set; } = [];
    [DataMember(Order = 5)] public Holding? Holding { get; set; }
}
