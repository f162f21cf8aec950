-- One person, by number.
request = function()
    return wrk.format("GET", "/people/" .. math.random(0, 99999))
end
