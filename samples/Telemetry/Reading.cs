using System.Runtime.Serialization;

namespace Telemetry;

/// <summary>What a sensor measured.</summary>
[DataContract]
public sealed record Reading(
    [property: DataMember(Order = 1)] string Sensor,
    [property: DataMember(Order = 2)] double Celsius,
    [property: DataMember(Order = 3)] DateTimeOffset At);
