namespace QuickSilver.Tool.Perf.Payloads;

// The flights in turn, as structs.
internal readonly struct DeparturePayload() : IPerfPayload<Departure>
{
    private readonly Departure[] _flights = Flights.Packed();

    public Departure Write(long sentAtTicks, long sequence) =>
        _flights[(int)sequence & (Flights.Count - 1)] with { Number = sequence, SentAtTicks = sentAtTicks };

    public static bool TryRead(in Departure message, out long sentAtTicks, out long sequence)
    {
        (sentAtTicks, sequence) = (message.SentAtTicks, message.Number);
        return true;
    }
}

// The flights in turn, as objects: these few, changed for each message.
internal readonly struct TextDeparturePayload() : IPerfPayload<TextDeparture>
{
    private readonly TextDeparture[] _flights = Flights.WithTexts();

    public TextDeparture Write(long sentAtTicks, long sequence)
    {
        var flight = _flights[(int)sequence & (Flights.Count - 1)];
        flight.Number = sequence;
        flight.SentAtTicks = sentAtTicks;
        return flight;
    }

    public static bool TryRead(in TextDeparture message, out long sentAtTicks, out long sequence)
    {
        (sentAtTicks, sequence) = (message.SentAtTicks, message.Number);
        return true;
    }
}
