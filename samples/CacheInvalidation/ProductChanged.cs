using System.Runtime.Serialization;

namespace CacheInvalidation;

/// <summary>A product was changed: what is cached of it is old.</summary>
[DataContract]
public sealed record ProductChanged([property: DataMember(Order = 1)] int Id);
