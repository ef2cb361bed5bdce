using System.Runtime.Serialization;

namespace FlightBoard;

/// <summary>One flight that left: what travels over the topics. The source generator writes its codec.</summary>
/// <param name="At">When it left, local time.</param>
/// <param name="Origin">From which airport; each has a topic of its own.</param>
/// <param name="Destination">To which airport.</param>
/// <param name="DistanceMiles">How far.</param>
/// <param name="DelayMinutes">How late it arrived; negative when early.</param>
[DataContract]
public sealed record Departure(
    [property: DataMember(Order = 1)] DateTime At,
    [property: DataMember(Order = 2)] string Origin,
    [property: DataMember(Order = 3)] string Destination,
    [property: DataMember(Order = 4)] int DistanceMiles,
    [property: DataMember(Order = 5)] int DelayMinutes);
