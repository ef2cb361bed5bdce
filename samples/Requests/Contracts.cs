using System.Runtime.Serialization;

namespace Requests;

/// <summary>What does so much of a product cost?</summary>
[DataContract]
public sealed record Quote([property: DataMember(Order = 1)] string Product, [property: DataMember(Order = 2)] int Count);

/// <summary>The answer of a shop.</summary>
[DataContract]
public sealed record Offer([property: DataMember(Order = 1)] string Shop, [property: DataMember(Order = 2)] decimal Price);
