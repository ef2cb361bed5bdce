using System.Runtime.Serialization;

namespace LivePrices;

/// <summary>The price of a symbol.</summary>
[DataContract]
public sealed record Price([property: DataMember(Order = 1)] string Symbol, [property: DataMember(Order = 2)] decimal Value);
