using System.Runtime.Serialization;

namespace LastValue;

/// <summary>The last price of a share.</summary>
[DataContract]
public sealed record Price([property: DataMember(Order = 1)] decimal Amount);
