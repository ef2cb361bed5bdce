using System.Runtime.Serialization;

namespace QuickSilverWeb;

// The number of a field never changes. Add fields with new numbers.
[DataContract]
public sealed record Reading(
    [property: DataMember(Order = 1)] string Sensor,
    [property: DataMember(Order = 2)] double Value);
