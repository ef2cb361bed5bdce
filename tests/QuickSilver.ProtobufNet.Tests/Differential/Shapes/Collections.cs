using System.Collections.Immutable;
using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// The other collections.
[DataContract]
public sealed class Collections
{
    [DataMember(Order = 1)] public int[] Array { get; set; } = [];
    [DataMember(Order = 2)] public double[] Reals { get; set; } = [];
    [DataMember(Order = 3)] public string[] Texts { get; set; } = [];
    [DataMember(Order = 4)] public DateOnly[] Days { get; set; } = [];
    [DataMember(Order = 5)] public Leaf[] Leaves { get; set; } = [];
    [DataMember(Order = 6)] public byte[][] Blobs { get; set; } = [];
    [DataMember(Order = 7)] public HashSet<int> Set { get; set; } = [];
    [DataMember(Order = 8)] public HashSet<string> TextSet { get; set; } = [];
    [DataMember(Order = 9)] public HashSet<TimeOnly> TimeSet { get; set; } = [];
    [DataMember(Order = 10)] public IReadOnlyList<long> ReadOnlyList { get; set; } = new List<long>();
    [DataMember(Order = 11)] public IReadOnlyCollection<string> ReadOnlyCollection { get; set; } = new List<string>();
    [DataMember(Order = 12)] public ImmutableArray<int> Immutable { get; set; } = [];
    [DataMember(Order = 13)] public ImmutableArray<Spot> ImmutableSpots { get; set; } = [];
    [DataMember(Order = 14)] public List<int>? MaybeList { get; set; }
    [DataMember(Order = 15)] public string[]? MaybeTexts { get; set; }
}
