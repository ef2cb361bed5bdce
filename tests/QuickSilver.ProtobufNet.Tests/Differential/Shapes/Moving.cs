using System.Runtime.Serialization;

namespace QuickSilver.ProtobufNet.Tests.Differential.Shapes;

// The members of the page about moving between codecs.
[DataContract]
public sealed class Moving
{
    [DataMember(Order = 1)] public string Plain { get; set; } = null!;
    [DataMember(Order = 2)] public string Initialized { get; set; } = "";
    [DataMember(Order = 3)] public string? Maybe { get; set; }
    [DataMember(Order = 4)] public byte[] Bytes { get; set; } = null!;
    [DataMember(Order = 5)] public byte[]? MaybeBytes { get; set; }
    [DataMember(Order = 6)] public List<int> Numbers { get; set; } = [];
    [DataMember(Order = 7)] public List<int>? MaybeNumbers { get; set; }
    [DataMember(Order = 8)] public Dictionary<string, int>? MaybeMap { get; set; }
    [DataMember(Order = 9)] public int? Count { get; set; }
    [DataMember(Order = 10, IsRequired = true)] public int Required { get; set; } = 5;
    [DataMember(Order = 11)] public decimal Price { get; set; }
    [DataMember(Order = 12)] public decimal? MaybePrice { get; set; }
    [DataMember(Order = 13)] public List<decimal> Prices { get; set; } = [];
    [DataMember(Order = 14)] public double Real { get; set; }
    [DataMember(Order = 15)] public double? MaybeReal { get; set; }
    [DataMember(Order = 16)] public List<double> Reals { get; set; } = [];
    [DataMember(Order = 17)] public Leaf? Leaf { get; set; }
    [DataMember(Order = 18)] public Leaf InitialLeaf { get; set; } = new();
    [DataMember(Order = 19)] public Uri? Page { get; set; }
}

// Apart, as its members are always sent.
[DataContract]
public sealed class MovingTimes
{
    [DataMember(Order = 1)] public DateTime At { get; set; }
    [DataMember(Order = 2)] public DateTime? MaybeAt { get; set; }
}
